package params

limit := 1000000

# want: refused 1 taken
