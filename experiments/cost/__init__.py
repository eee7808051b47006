"""COST (Cai, Wang and Zhang): figures 1 and 2, and the sparse real-data table."""
