"""What every place where people talk needs: how something is worded, the same for all of them."""
