"""RELU (Ding, Lei, Wang, Zheng, Wang and Xu): figures 1 and 2, Table 4."""
