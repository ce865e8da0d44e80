"""What the promise costs, as ratios beside something real in the same run."""
