"""NLDP (Wang, Hu, Zhang, Gaboardi and Xu): figures 1 to 18."""
