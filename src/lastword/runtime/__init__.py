"""asyncio on the outside, core on the inside.

Core's machines are told what happens, and order what is to be done; here that is carried out, in
line. Whatever leaves passes one check, `hold`; every task has an owner, and threads are daemons.
"""
