package wasm

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero"
)

// compile compiles a module, with the cache's folder if there is one. A folder
// that is full, read-only or damaged costs time and nothing else: what cannot be
// read from it or written to it is compiled without it.
func (r *Runtime) compile(module []byte) (wazero.Runtime, wazero.CompiledModule, error) {
	ctx := context.Background()
	c, err := r.engine.CompileModule(ctx, module)
	if err == nil || r.config.CacheDir == "" {
		return r.engine, c, err
	}
	if log := r.config.Log; log != nil {
		log.LogAttrs(ctx, slog.LevelWarn, "cache of compiled policies not used", slog.String("dir", r.config.CacheDir), slog.String("error", oneLine(err.Error())))
	}
	if strings.Contains(err.Error(), "compilationcache: ") {
		emptyCache(r.config.CacheDir)
	}
	if r.uncached == nil {
		if r.uncached, err = newEngine(wazero.NewCompilationCache()); err != nil {
			return nil, nil, err
		}
	}
	c, err = r.uncached.CompileModule(ctx, module)
	return r.uncached, c, err
}

// emptyCache removes what the engine has stored: one file of it is damaged, and
// only the engine knows which. It is compiled again when it is needed.
func emptyCache(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "wazero-*", "*")) // the pattern is one
	for _, f := range files {
		_ = os.Remove(f)
	}
}
