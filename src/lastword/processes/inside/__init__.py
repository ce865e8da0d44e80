"""What runs in the zygote and in the wardens, and nowhere else but for what both ends share.

Wardens are forked from a zygote that was started by `exec` and holds next to nothing, so these
modules import only Python's own and each other, and nothing of lastword's. They are found by
path: importing `lastword` there would cost more than all they do.
"""
