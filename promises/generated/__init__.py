"""Random inputs for every classifier: ordinary ones, odd ones and wrong ones, each made from a seed."""
