package system.authz

allow := true

# want: refused 1 taken
