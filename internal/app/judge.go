package app

import (
	"context"
	"errors"
	"log/slog"

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
