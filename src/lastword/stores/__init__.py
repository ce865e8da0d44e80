"""What survives the process, behind one small contract."""
