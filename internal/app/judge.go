package app

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"

	"gatewright/internal/config"
	"gatewright/internal/vetting"
	"gatewright/policies"
)

// judge has an upload judged beside the requests: by a process of its own, if one can
// be started.
func (r *policyRoom) judge(ctx context.Context, u *policies.Upload) (*policies.Judgement, error) {
	if r.vetting == nil {
		return r.library.Judge(ctx, u)
	}
	j, made, err := r.vetting.Judge(ctx, u)
	switch {
	case errors.Is(err, vetting.ErrUnavailable):
		r.logger.WarnContext(ctx, "uploads are judged within the gateway: requests may wait for it", slog.Any("error", err))
		return r.library.Judge(ctx, u)
	case err != nil:
		return nil, err
	}
	r.library.Adopt(u, made)
	return j, nil
}

// signers are those who may sign uploads.
func signers(f *config.File) policies.Signers {
	list := make(policies.Signers, len(f.Admin.Signers))
	for i, key := range f.Admin.Signers {
		list[i], _ = base64.StdEncoding.DecodeString(key) // the configuration holds keys
	}
	return list
}
