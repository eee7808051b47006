"""Summary tables, plots and reports."""
