package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"gatewright/internal/server/admin"
	"gatewright/policies"
	"gatewright/store"
)

// auditKind is what the entries of the audit log are stored as. The name is for
// ever.
const auditKind = "audit"

// The audit log keeps the newest entries. What is beyond is dropped every so many
// changes, a part at a time.
const (
	auditMost  = 10_000
	auditEvery = 100
	auditDrop  = 1000
)

// entry is the line of the audit log about a change.
func (r *policyRoom) entry(by admin.Author, changes []store.ObjectChange) (store.ObjectChange, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return store.ObjectChange{}, fmt.Errorf("audit: %w", err)
	}
	c := admin.Change{ID: id.String(), At: r.clock().UTC(), Actor: by.Actor, Address: by.Address, Action: by.Action, Object: by.Object}
	for i := range changes {
		x := &changes[i]
		if x.Kind != policyKind && x.Kind != bindingKind {
			continue
		}
		was, ok, err := r.objects.Get(x.Kind, x.ID)
		if err != nil {
			return store.ObjectChange{}, err
		}
		if ok {
			c.Before = policies.Digest(was)
		}
		if x.Value != nil {
			c.After = policies.Digest(x.Value)
		}
	}
	record, err := json.Marshal(c)
	return store.ObjectChange{Kind: auditKind, ID: c.ID, Value: record}, err
}

// Changes implements admin.Journal.
func (r *policyRoom) Changes(before string, each func(admin.Change) bool) error {
	return r.objects.Backward(auditKind, before, func(id string, record []byte) (bool, error) {
		var c admin.Change
		if err := json.Unmarshal(record, &c); err != nil {
			return false, fmt.Errorf("audit entry %s: %w", id, err)
		}
		return each(c), nil
	})
}

// trimAudit drops the oldest entries beyond auditMost, now and then. The caller
// holds app.reloading.
func (r *policyRoom) trimAudit(ctx context.Context) {
	r.changes++
	if r.changes%auditEvery != 1 {
		return
	}
	seen := 0
	var old []store.ObjectChange
	err := r.objects.Backward(auditKind, "", func(id string, _ []byte) (bool, error) {
		if seen++; seen > auditMost {
			old = append(old, store.ObjectChange{Kind: auditKind, ID: id})
		}
		return len(old) < auditDrop, nil
	})
	if err == nil && len(old) > 0 {
		err = r.objects.Write(ctx, old...)
	}
	if err != nil {
		r.logger.WarnContext(ctx, "the audit log is longer than it should be", slog.Any("error", err))
	}
}
