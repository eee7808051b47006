"""MPR (Wu and others): Table 1, figures 2 and 3."""
