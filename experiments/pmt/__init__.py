"""PMT (Cao, Bi and Zhang): figures 1 to 10."""
