//go:build wasip1

// Uses what the worked examples of the SDK do not; features_test.go says what it
// must answer.
package main

import (
	"errors"
	"slices"
	"strings"

	"gatewright/wasm/sdk/go/gatewright"
)

/* gatewright.manifest
{"name": "features", "version": "1", "kind": "ranking", "abi": "1.0"}
*/

var (
	word   string
	words  []string
	number int64
	flag   bool
)

func main() {}

//go:wasmexport gw_configure
func configure(at, size uint32) int32 {
	return gatewright.Configure(at, size, func(p *gatewright.Params) error {
		flag = p.Bool("flag", false)
		word = p.Text("word", "")
		words = p.Texts("words")
		number = p.Int("number", 5, -10, 10)
		if number == 7 {
			return &gatewright.Fail{Code: gatewright.Own, Message: "seven"}
		}
		return nil
	})
}

//go:wasmexport gw_rank
func decide(at, size uint32) int32 { return gatewright.Ranking(at, size, rank) }

func rank(r *gatewright.Request) error {
	what, _ := r.Attr("tag.do")
	switch what {
	case "fail":
		return &gatewright.Fail{Code: gatewright.Own - 1, Message: "no table"}
	case "long":
		return errors.New("x" + strings.Repeat("é", 200))
	case "log":
		gatewright.Log(gatewright.Warn, "look here")
		gatewright.Log(gatewright.Debug, "grün")
	case "order":
		for _, c := range slices.Backward(slices.Collect(r.Candidates())) {
			if !slices.Contains(words, c.Provider.String()) {
				r.Order(c)
			}
		}
	}
	for c := range r.Candidates() {
		switch what {
		case "again":
			r.Order(c)
			r.Order(c)
		case "texts":
			scoreTexts(r, c)
		case "header":
			c.SetScore(float64(r.Seed%1000) + 1000*float64(r.TPMLeft+uint32(r.Hour)+uint32(r.Day)) + float64(len(r.Endpoint.String())))
		case "parameters":
			score := float64(number) + 1000*float64(len(word)) + 10000*float64(len(words))
			if flag {
				score += 100
			}
			c.SetScore(score)
		}
	}
	return nil
}

func scoreTexts(r *gatewright.Request, c *gatewright.Candidate) {
	region, ok := r.Attr("meta.region")
	score := 4.0
	switch upstream := c.UpstreamModel.String(); {
	case strings.HasPrefix(upstream, "grün-"):
		score = 1
	case upstream == c.Model.String():
		score = 2
	case ok && region == c.Region.String():
		score = 3
	}
	if gatewright.KnownCount(c.ContextLimit) {
		score += 10
	}
	if c.SupplyTier.String() == "直接🚀" {
		score += 20
	}
	if _, ok := c.Tag(""); ok {
		score += 40
	}
	c.SetScore(score)
}
