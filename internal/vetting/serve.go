package vetting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"gatewright/policies"
)

// Serve is the other process: it reads questions, judges one upload after the other
// and writes what it found, until there are no more. The error says that a question
// cannot be read, or nobody be answered.
func Serve(ctx context.Context, in io.Reader, out io.Writer, logger *slog.Logger) error {
	for questions := json.NewDecoder(in); ; {
		var q question
		if err := questions.Decode(&q); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("read what is to be judged: %w", err)
		}
		if err := restrain(q.Modest); err != nil {
			logger.WarnContext(ctx, "take second place", slog.Any("error", err))
		}
		a, made := q.judge(ctx, logger)
		text, err := json.Marshal(a)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(append(text, '\n'), made...)); err != nil {
			return err
		}
	}
}

// judge answers.
func (q *question) judge(ctx context.Context, logger *slog.Logger) (a *answer, made []byte) {
	library, err := policies.NewLibrary(policies.Options{CacheDir: q.CacheDir, Logger: logger, Sources: nothing{}}) //nolint:contextcheck // lives until it is closed
	if err != nil {
		return &answer{Failed: err.Error()}, nil
	}
	j, err := library.Judge(ctx, &q.Upload)
	if err == nil {
		made, err = library.Made(&q.Upload)
	}
	err = errors.Join(err, library.Close(ctx))
	refused, ok := errors.AsType[*policies.SourceError](err)
	switch {
	case ok:
		return &answer{Refused: refused}, nil
	case err != nil:
		return &answer{Failed: err.Error()}, nil
	}
	return &answer{Judgement: j, Made: len(made)}, made
}

// nothing is where a library finds sources that loads none.
type nothing struct{}

// Source implements policies.Sources.
func (nothing) Source(string) ([]byte, error) { return nil, policies.ErrNotFound }
