package check

// Small is the profile of modules from C, Rust, AssemblyScript and the like.
func Small() Profile {
	return Profile{
		Name:  "small",
		Kinds: []Kind{KindAdmission, KindRanking},
		Limits: Limits{
			Bytes: 256 << 10, Custom: 32, Name: 256,
			Types: 1000, Params: 32, Results: 16,
			Imports: 16, Functions: 4096, Globals: 256, Exports: 32,
			Tables: 1, TableEntries: 4096, Elements: 256, ElementEntries: 4096, Data: 1024,
			Body: 8 << 10, Locals: 256, Nest: 64, Branch: 256,
			CompileWalk: 1_000_000, CompilePairs: 100_000_000,
			MemoryPages: 64, MemoryMaximum: true,
		},
		Imports:  []Extern{logging},
		Required: contract(),
		OneOf:    decide(),
		Optional: append(
			optional(),
			// rustc exports the bounds of its data.
			Extern{Name: "__data_end", Kind: ExternGlobal, Type: "i32"},
			Extern{Name: "__heap_base", Kind: ExternGlobal, Type: "i32"},
		),
	}
}

// Go is the profile of modules from Go's own compiler for wasip1, built with
// -buildmode=c-shared. They bring a runtime along, so everything is larger, and
// they declare no maximum of their memory: the engine must be told one. A
// module made to be slow can keep the engine's compiler busy for half a minute,
// so operators choose this profile for people that they trust that far.
func Go() Profile {
	return Profile{
		Name:  "go",
		Kinds: []Kind{KindAdmission, KindRanking},
		Limits: Limits{
			Bytes: 4 << 20, Custom: 32, Name: 256,
			Types: 1000, Params: 32, Results: 16,
			Imports: 64, Functions: 16 << 10, Globals: 64, Exports: 32,
			Tables: 1, TableEntries: 64 << 10, Elements: 64, ElementEntries: 64 << 10, Data: 128 << 10,
			Body: 128 << 10, Locals: 64, Nest: 2048, Branch: 4096,
			CompileWalk: 100_000_000, CompilePairs: 1_000_000_000,
			MemoryPages: 512,
		},
		Imports:  append(wasi(), logging),
		Required: contract(),
		OneOf:    decide(),
		Optional: optional(),
	}
}

// OPA is the profile of modules from OPA's compiler, run by the gateway or as
// `opa build -t wasm`. All rules of one name become one function, so a body may
// be large.
func OPA() Profile {
	required, others := opaExports()
	return Profile{
		Name:  "opa",
		Kinds: []Kind{KindOPA},
		Limits: Limits{
			Bytes: 2 << 20, Custom: 32, Name: 256,
			Types: 1000, Params: 32, Results: 16,
			Imports: 16, Functions: 16 << 10, Globals: 64, Exports: 64,
			Tables: 1, TableEntries: 16 << 10, Elements: 64, ElementEntries: 16 << 10, Data: 1024,
			Body: 256 << 10, Locals: 16 << 10, Nest: 128, Branch: 1024,
			CompileWalk: 2_000_000, CompilePairs: 400_000_000,
			MemoryPages: 256,
		},
		Imports:  opaImports(),
		Required: required,
		Optional: others,
	}
}

// logging is the one function that the host offers to every policy.
var logging = Extern{Module: "gw", Name: "log", Type: "(i32, i32, i32)"}

// contract is what every policy must export.
func contract() []Extern {
	return []Extern{
		{Name: "memory", Kind: ExternMemory},
		{Name: exportVersion, Type: "() -> i32"},
		{Name: "gw_alloc", Type: "(i32) -> i32"},
	}
}

// decide are the two kinds of policies.
func decide() []Extern {
	return []Extern{
		{Name: exportAdmit, Type: "(i32, i32) -> i32"},
		{Name: exportRank, Type: "(i32, i32) -> i32"},
	}
}

func optional() []Extern {
	return []Extern{
		{Name: "gw_configure", Type: "(i32, i32) -> i32"},
		{Name: "_initialize", Type: "()"},
	}
}

// externs makes a list of functions from pairs of name and type.
func externs(module string, pairs ...string) []Extern {
	list := make([]Extern, 0, len(pairs)/2+1)
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, Extern{Module: module, Name: pairs[i], Type: pairs[i+1]})
	}
	return list
}

// wasi is what Go's runtime imports. The host answers with a fixed clock, fixed
// randomness and no files.
func wasi() []Extern {
	return externs("wasi_snapshot_preview1",
		"args_get", "(i32, i32) -> i32",
		"args_sizes_get", "(i32, i32) -> i32",
		"clock_time_get", "(i32, i64, i32) -> i32",
		"environ_get", "(i32, i32) -> i32",
		"environ_sizes_get", "(i32, i32) -> i32",
		"fd_close", "(i32) -> i32",
		"fd_fdstat_get", "(i32, i32) -> i32",
		"fd_fdstat_set_flags", "(i32, i32) -> i32",
		"fd_prestat_dir_name", "(i32, i32, i32) -> i32",
		"fd_prestat_get", "(i32, i32) -> i32",
		"fd_write", "(i32, i32, i32, i32) -> i32",
		"poll_oneoff", "(i32, i32, i32, i32) -> i32",
		"proc_exit", "(i32)",
		"random_get", "(i32, i32) -> i32",
		"sched_yield", "() -> i32",
	)
}

// opaImports is what OPA's modules of ABI version 1 import.
func opaImports() []Extern {
	return append(
		externs("env",
			"opa_abort", "(i32)",
			"opa_println", "(i32)",
			"opa_builtin0", "(i32, i32) -> i32",
			"opa_builtin1", "(i32, i32, i32) -> i32",
			"opa_builtin2", "(i32, i32, i32, i32) -> i32",
			"opa_builtin3", "(i32, i32, i32, i32, i32) -> i32",
			"opa_builtin4", "(i32, i32, i32, i32, i32, i32) -> i32",
		),
		Extern{Module: "env", Name: "memory", Kind: ExternMemory},
	)
}

// opaExports is what OPA's modules of ABI version 1 export: what the host
// needs, and the rest.
func opaExports() (required, others []Extern) {
	required = append(
		externs("",
			exportOPAEval, "(i32, i32, i32, i32, i32, i32, i32) -> i32",
			"opa_malloc", "(i32) -> i32",
			"opa_json_parse", "(i32, i32) -> i32",
			"opa_json_dump", "(i32) -> i32",
			"opa_heap_ptr_get", "() -> i32",
			"opa_heap_ptr_set", "(i32)",
			"builtins", "() -> i32",
			"entrypoints", "() -> i32",
		),
		Extern{Name: exportOPAMajor, Kind: ExternGlobal, Type: "i32"},
		Extern{Name: exportOPAMinor, Kind: ExternGlobal, Type: "i32"},
	)
	others = append(
		externs("",
			"_initialize", "()",
			"eval", "(i32) -> i32",
			"opa_eval_ctx_get_result", "(i32) -> i32",
			"opa_eval_ctx_new", "() -> i32",
			"opa_eval_ctx_set_data", "(i32, i32)",
			"opa_eval_ctx_set_entrypoint", "(i32, i32)",
			"opa_eval_ctx_set_input", "(i32, i32)",
			"opa_free", "(i32)",
			"opa_heap_blocks_restore", "()",
			"opa_heap_blocks_stash", "()",
			"opa_heap_stash_clear", "()",
			"opa_value_add_path", "(i32, i32, i32) -> i32",
			"opa_value_dump", "(i32) -> i32",
			"opa_value_free", "(i32)",
			"opa_value_parse", "(i32, i32) -> i32",
			"opa_value_remove_path", "(i32, i32) -> i32",
		),
		Extern{Name: "memory", Kind: ExternMemory},
	)
	return required, others
}
