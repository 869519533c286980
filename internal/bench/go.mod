module gatewright/internal/bench

go 1.26.0
