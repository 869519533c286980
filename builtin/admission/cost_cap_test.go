package admission_test

import (
	"math"
	"testing"
	"time"

	"gatewright/builtin/admission"
	"gatewright/engine"
)

func TestCostCap(t *testing.T) {
	// 1000 tokens in at 1 USD a million and 500 out at 4 USD: 0.003 USD on the
	// two other candidates.
	const cost = 3_000_000
	caps := func(caller, request, inputPrice int64) func(*engine.Request, *engine.Candidate) {
		return func(r *engine.Request, c *engine.Candidate) {
			r.Caller.MaxCost, r.MaxCost, c.Price.Input = caller, request, inputPrice
		}
	}
	runCases(t, admission.CostCap{}, []refusalCase{
		{name: "no cap", set: caps(0, 0, math.MaxInt64/4)},
		{name: "at the cap", set: caps(0, cost, 1_000_000_000)},
		{
			name: "above the request's", set: caps(0, cost, 1_000_001_000),
			detail: "the estimated cost, 0.003000001 USD, is above the cap of 0.003 USD",
		},
		{
			name: "above the caller's", set: caps(cost, 0, 2_000_000_000_000),
			detail: "the estimated cost, 2.002 USD, is above the cap of 0.003 USD",
		},
		{
			name: "the request lowers the caller's", set: caps(cost*1000, cost, 2_000_000_000),
			detail: "the estimated cost, 0.004 USD, is above the cap of 0.003 USD",
		},
		{
			name: "the request cannot raise the caller's", set: caps(cost, cost*1000, 2_000_000_000),
			detail: "the estimated cost, 0.004 USD, is above the cap of 0.003 USD",
		},
		{name: "price not known", set: func(r *engine.Request, c *engine.Candidate) {
			r.MaxCost, c.Price = cost, engine.Price{}
		}},
		{
			name: "a promotion counts",
			set: func(r *engine.Request, c *engine.Candidate) {
				r.MaxCost, c.Price.Input = cost, 2_000_000_000
				c.Sale = engine.Sale{Multiplier: 750_000, Until: now.Add(time.Hour)}
			},
		},
		{
			name: "a promotion that is over does not",
			set: func(r *engine.Request, c *engine.Candidate) {
				r.MaxCost, c.Price.Input = cost, 2_000_000_000
				c.Sale = engine.Sale{Multiplier: 750_000, Until: now}
			},
			detail: "the estimated cost, 0.004 USD, is above the cap of 0.003 USD",
		},
		{
			name: "whole dollars",
			set: func(r *engine.Request, c *engine.Candidate) {
				r.MaxCost, r.InputTokens, r.MaxOutput = 5_000_000_000, 1_000_000, 500_000
				c.Price.Input = 10_000_000_000
			},
			detail: "the estimated cost, 12 USD, is above the cap of 5 USD",
		},
	})
}
