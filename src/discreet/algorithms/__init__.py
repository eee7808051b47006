"""One file per family of algorithms. Algorithms query a source and never see a row."""
