#!/bin/sh
# Builds .venv-diffprivlib: diffprivlib 0.6.6 calls scikit-learn internals that later versions removed, so it lives apart.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
env="$root/.venv-diffprivlib"
python3 -m venv "$env"
"$env/bin/python" -m pip install --quiet "diffprivlib==0.6.6" "scikit-learn<1.6"
"$env/bin/python" -c "from diffprivlib.models import LinearRegression; print('diffprivlib ready')"
