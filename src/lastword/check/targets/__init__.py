"""What is judged, each kind behind one small face: say, stop, and what was heard when."""
