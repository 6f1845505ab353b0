package layering

import (
	"path"
	"slices"
	"strings"
)

// module is the path of the root module.
const module = "github.com/plimsoll-go/plimsoll"

// floor is where a package stands. An import leads to a lower floor.
type floor int

// The floors, from the ground up.
const (
	unknown floor = iota
	spelled
	algebra
	market
	machines
	catalogs
	vocabulary
	numbers
	compiled
	drawn
	construction
	generation
	engine
	relaxed
	pods
	offers
	validity
	problem
	tied
	proof
	search
	reasons
	solver
	mover
	referee
	tools
	programs
	outside // tests of the repository itself
)

// floors places the packages, by their path in the module. Packages below cmd and examples, and internal packages of a
// package, stand on the floor of their owner. Any other package that is missing here is a fault, so that each new one
// is placed by decision.
func floors() map[string]floor {
	return map[string]floor{
		"requirements":                        algebra,
		"internal/race":                       algebra,
		"internal/lifecycle":                  algebra,
		"internal/spelling":                   spelled,
		"internal/strict":                     market,
		"internal/untrusted":                  algebra,
		"internal/dice":                       algebra,
		"offerings":                           market,
		"instancetypes":                       machines,
		"billing":                             catalogs,
		"instancetypes/ec2":                   catalogs,
		"instancetypes/azure":                 catalogs,
		"instancetypes/gcp":                   catalogs,
		"instancetypes/pricelist":             vocabulary,
		"scheduling":                          vocabulary,
		"scheduling/certificate":              machines,
		"scheduling/explanation":              pods,
		"scheduling/internal/faults":          pods,
		"scheduling/internal/fixed":           numbers,
		"scheduling/internal/interior":        compiled,
		"scheduling/internal/knapsack":        compiled,
		"scheduling/internal/linear":          compiled,
		"scheduling/internal/model":           compiled,
		"scheduling/internal/model/modeltest": drawn,
		"scheduling/internal/greedy":          construction,
		"scheduling/internal/columns":         generation,
		"scheduling/internal/bound":           engine,
		"scheduling/internal/covering":        engine,
		"scheduling/internal/pack":            engine,
		"scheduling/internal/topology":        engine,
		"scheduling/internal/lagrangian":      relaxed,
		"scheduling/internal/podspec":         pods,
		"scheduling/internal/offers":          offers,
		"scheduling/internal/hosts":           offers,
		"scheduling/internal/spotshare":       offers,
		"scheduling/internal/terms":           validity,
		"scheduling/internal/validate":        validity,
		"scheduling/internal/instance":        problem,
		"scheduling/internal/stock":           tied,
		"scheduling/internal/units":           tied,
		"scheduling/internal/cluster":         tied,
		"scheduling/internal/prove":           proof,
		"scheduling/internal/binding":         proof,
		"scheduling/internal/search":          search,
		"scheduling/internal/volumes":         search,
		"scheduling/internal/fleet":           search,
		"scheduling/internal/explain":         reasons,
		"scheduling/provisioning":             solver,
		"scheduling/buffers":                  mover,
		"scheduling/verify":                   referee,
		"scheduling/disruption":               mover,
		"scheduling/manifest":                 tools,
		"scheduling/schedulingtest":           tools,
		"internal/filled":                     tools,
		"internal/soak":                       tools,
		"internal/openmetrics":                algebra,
		"internal/clouds":                     tools,
		"internal/serving":                    tools,
		"benchmarks":                          programs,
		"cmd":                                 programs,
		"examples":                            programs,
		"internal/layering":                   outside,
		"internal/nopanic":                    outside,
	}
}

// place is the floor of a package of ours, and the entry that put it there.
func place(pkg string) (floor, string) {
	table := floors()
	if f, ok := table[pkg]; ok {
		return f, pkg
	}
	for owner := path.Dir(pkg); owner != "."; owner = path.Dir(owner) {
		f, ok := table[owner]
		if !ok {
			continue
		}
		private := within(pkg, owner+"/internal") && !within(pkg, engineRoot)
		if private || f == programs {
			return f, owner
		}
		break
	}
	return unknown, ""
}

// engineRoot is the folder of the stages of a decision; those that know integers only are the engine.
const engineRoot = "scheduling/internal"

// isEngine reports whether packages of a floor know integers only.
func isEngine(f floor) bool { return f >= numbers && f <= relaxed }

// mayImport returns the fault of an import of one package of this module by another, "" for none. Both are given as
// paths in the module. Commands may import package spelling, because it also proposes the flag or command that a user
// may have meant, and packages clouds and openmetrics, because the adapters open catalogs and write metrics too; none of
// them knows anything about plans.
func mayImport(from, to string) string {
	fromFloor, fromPlace := place(from)
	toFloor, toPlace := place(to)
	switch {
	case fromFloor == unknown:
		return "the package has no floor; give it one in internal/layering"
	case toFloor == unknown:
		return "the imported package has no floor; give it one in internal/layering"
	case fromPlace == toPlace:
		return "" // private helpers below one and the same public package
	case within(from, "scheduling/verify") && within(to, engineRoot):
		return "a second opinion must not share code with the solver"
	case isEngine(fromFloor) && !isEngine(toFloor):
		return "the engine imports nothing but itself and the standard library"
	case within(to, engineRoot) && !within(from, engineRoot) && fromFloor != solver && fromFloor != mover:
		return "only what decides talks to the stages of a decision"
	case fromFloor == programs && strings.Contains("/"+to+"/", "/internal/") && (!within(from, "cmd") || !slices.Contains([]string{"internal/clouds", "internal/openmetrics", "internal/spelling"}, to)):
		return "programs use public packages, as any caller does"
	case toFloor >= fromFloor:
		return "imports lead downstairs only"
	}
	return ""
}

// within reports whether a path is a folder or lies below it.
func within(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, folder+"/")
}

// standard reports whether an import path belongs to the standard library.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// impure are packages of the standard library that reach out of the process or
// depend on when and where it runs. Decisions are made without them.
func impure() []string {
	return []string{"log", "log/slog", "math/rand", "net", "net/http", "os", "os/exec", "os/signal", "plugin", "runtime/debug", "syscall", "unsafe"}
}

// pure reports whether a package takes part in a decision, and so must not import packages that read files, the clock
// or the network.
func pure(pkg string) bool {
	f, _ := place(pkg)
	return f >= spelled && f <= referee
}

// vague returns names that do not say which idea a package owns.
func vague() []string {
	return []string{"base", "common", "helper", "helpers", "misc", "shared", "util", "utils"}
}

// direct returns the modules that the root module may require directly.
func direct() []string {
	return []string{
		"github.com/robfig/cron/v3",
		"github.com/samber/lo",
		"github.com/spf13/cobra",
		"github.com/spf13/pflag",
		"github.com/stretchr/testify",
		"go.yaml.in/yaml/v3",
		"golang.org/x/exp",
		"k8s.io/api",
		"k8s.io/apimachinery",
		"k8s.io/component-helpers", // how kube-scheduler reads requests and node affinity, for verify
		"sigs.k8s.io/json",
		"sigs.k8s.io/yaml",
	}
}
