package app

import (
	"gatewright/internal/config"
	"gatewright/internal/provider/health"
)

// quotas are the quota windows of every provider of the file.
func quotas(f *config.File) []health.ProviderQuota {
	list := make([]health.ProviderQuota, len(f.Providers))
	for i := range f.Providers {
		p := &f.Providers[i]
		list[i] = health.ProviderQuota{Provider: p.ID}
		for k := range p.QuotaWindows {
			w := &p.QuotaWindows[k]
			list[i].Windows = append(list[i].Windows, health.QuotaLimit{
				Name: w.Name, Period: w.Period, Unit: quotaUnit(w.Unit), Limit: w.Limit, Covers: w.CoversModel,
			})
		}
	}
	return list
}

// quotaUnit is what a window of the configuration counts.
func quotaUnit(name string) health.QuotaUnit {
	switch name {
	case config.QuotaTokens:
		return health.QuotaTokens
	case config.QuotaUSD:
		return health.QuotaUSD
	}
	return health.QuotaRequests
}
