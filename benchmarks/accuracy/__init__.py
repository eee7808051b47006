"""The accuracy benchmark: discreet and its peers on real and synthetic data. Run it as a module."""
