"""The accuracy benchmark: ours and the peers on real and synthetic data, like for like. Run as a module."""
