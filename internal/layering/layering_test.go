package layering

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestImportsLeadDownstairs(t *testing.T) {
	seen := 0
	for _, s := range sources(t) {
		if s.test {
			continue // a test may look at a package from above
		}
		for _, imported := range s.imports() {
			if to, ours := inModule(imported); ours {
				seen++
				assert.Empty(t, mayImport(s.pkg, to), "%s imports %s", s.file, to)
			}
		}
	}
	assert.NotZero(t, seen)
}

// The referee's and the engine's tests keep to the rules that make them worth having.
func TestRefereeAndEngineTests(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		for _, imported := range s.imports() {
			to, ours := inModule(imported)
			if !ours {
				continue
			}
			if within(s.pkg, "scheduling/verify") {
				assert.False(t, within(to, engineRoot), "%s imports %s", s.file, to)
			}
			if f, _ := place(s.pkg); isEngine(f) {
				assert.True(t, within(to, engineRoot) || to == "internal/race" || to == "internal/soak", "%s imports %s", s.file, to)
			}
		}
	}
}

func TestEveryPackageHasAFloor(t *testing.T) {
	for _, s := range sources(t) {
		f, _ := place(s.pkg)
		assert.NotEqual(t, unknown, f, "%s: give its package a floor in internal/layering/rules_test.go", s.file)
	}
}

func TestEngineUsesTheStandardLibraryOnly(t *testing.T) {
	for _, s := range sources(t) {
		if f, _ := place(s.pkg); s.test || !isEngine(f) {
			continue
		}
		for _, imported := range s.imports() {
			_, ours := inModule(imported)
			assert.True(t, ours || standard(imported), "%s imports %s", s.file, imported)
		}
	}
}

func TestDecisionsArePure(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !pure(s.pkg) {
			continue
		}
		for _, imported := range s.imports() {
			assert.NotContains(t, impure(), imported, "%s", s.file)
		}
		assert.Empty(t, clockReads(s.ast), "%s reads the clock; the caller passes the time", s.file)
	}
}

// clockReads lists the calls by which a file depends on the time of day.
func clockReads(file *ast.File) []string {
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok && x.Name == "time" {
				switch selector.Sel.Name {
				case "Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTicker", "NewTimer":
					found = append(found, "time."+selector.Sel.Name)
				}
			}
		}
		return true
	})
	return found
}

func TestNoImportCycles(t *testing.T) {
	graph := map[string][]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, imported := range s.imports() {
			if to, ours := inModule(imported); ours {
				graph[s.pkg] = append(graph[s.pkg], to)
			}
		}
	}
	assert.Empty(t, cycle(graph))
}

// cycle returns the packages of one cycle, in order, or nothing.
func cycle(graph map[string][]string) []string {
	done := map[string]bool{}
	var visit func(pkg string, trail []string) []string
	visit = func(pkg string, trail []string) []string {
		if i := slices.Index(trail, pkg); i >= 0 {
			return append(slices.Clone(trail[i:]), pkg)
		}
		if done[pkg] {
			return nil
		}
		for _, next := range graph[pkg] {
			if found := visit(next, append(slices.Clone(trail), pkg)); found != nil {
				return found
			}
		}
		done[pkg] = true
		return nil
	}
	for pkg := range graph {
		if found := visit(pkg, nil); found != nil {
			return found
		}
	}
	return nil
}

func TestPackagesAreNamedForWhatTheyOwn(t *testing.T) {
	for _, s := range sources(t) {
		name := strings.TrimSuffix(s.ast.Name.Name, "_test")
		assert.NotContains(t, vague(), name, "%s", s.file)
		assert.NotContains(t, vague(), path.Base(s.pkg), "%s", s.file)
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	documented, packages := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		packages[s.pkg] = true
		if s.ast.Doc != nil && (path.Base(s.file) == "doc.go" || s.ast.Name.Name == "main") {
			documented[s.pkg] = true
		}
	}
	for pkg := range packages {
		assert.True(t, documented[pkg], "%s has no package comment in doc.go", pkg)
	}
}

func TestFilesOwnOneIdea(t *testing.T) {
	const limit = 400
	for _, s := range sources(t) {
		if !s.test && !ast.IsGenerated(s.ast) {
			assert.LessOrEqual(t, s.size, limit, "%s is longer than one idea", s.file)
		}
	}
}

func TestNothingHappensAtImport(t *testing.T) {
	for _, s := range sources(t) {
		for _, declaration := range s.ast.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok {
				assert.False(t, f.Recv == nil && f.Name.Name == "init", "%s has an init function", s.file)
			}
		}
	}
}

// The rules themselves: a rule that allows everything would pass all tests above.
func TestMayImport(t *testing.T) {
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"offerings", "requirements", true},
		{"requirements", "offerings", false},
		{"instancetypes", "offerings", true},
		{"instancetypes", "requirements", true},
		{"offerings", "instancetypes", false},
		{"instancetypes", "instancetypes/internal/embedded", true},
		{"instancetypes/ec2", "instancetypes", true},
		{"instancetypes", "instancetypes/ec2", false},
		{"instancetypes/ec2", "instancetypes/azure", false},
		{"instancetypes", "scheduling", false},
		{"scheduling", "instancetypes", true},
		{"scheduling", "scheduling/internal/pack", false},
		{"scheduling/provisioning", "scheduling/internal/pack", true},
		{"scheduling", "scheduling/verify", false},
		{"scheduling/internal/pack", "scheduling/internal/model", true},
		{"scheduling/internal/model", "scheduling/internal/pack", false},
		{"scheduling/internal/pack", "scheduling/internal/bound", false},
		{"scheduling/internal/pack", "offerings", false},
		{"scheduling/internal/model", "requirements", false},
		{"scheduling/verify", "scheduling", true},
		{"scheduling/verify", "instancetypes", true},
		{"scheduling/verify", "scheduling/internal/model", false},
		{"scheduling/manifest", "scheduling", true},
		{"scheduling/manifest", "scheduling/internal/model", false},
		{"scheduling/schedulingtest", "scheduling/verify", true},
		{"scheduling/schedulingtest", "scheduling/manifest", false},
		{"cmd/plimsoll", "scheduling/manifest", true},
		{"cmd/plimsoll", "cmd/plimsoll/internal/table", true},
		{"cmd/plimsoll", "scheduling/internal/pack", false},
		{"cmd/plimsoll", "instancetypes/internal/embedded", false},
		{"cmd/plimsoll", "internal/spelling", true},
		{"cmd/plimsoll", "internal/untrusted", false},
		{"examples/autoscaler", "internal/spelling", false},
		{"scheduling", "cmd/plimsoll", false},
		{"scheduling/novelty", "requirements", false},
		{"scheduling/internal/novelty", "scheduling/internal/model", false},
		{"scheduling/internal/model", "scheduling/internal/novelty", false},
		{"novelty", "requirements", false},
		{"scheduling", "novelty", false},
	} {
		assert.Equal(t, c.allowed, mayImport(c.from, c.to) == "", "%s imports %s: %q", c.from, c.to, mayImport(c.from, c.to))
	}
}

func TestCycle(t *testing.T) {
	assert.Empty(t, cycle(map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": nil}))
	found := cycle(map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}})
	require.Len(t, found, 3)
	assert.Equal(t, found[0], found[2])
	assert.ElementsMatch(t, []string{"b", "c"}, found[:2])
	assert.Equal(t, "[a a]", fmt.Sprint(cycle(map[string][]string{"a": {"a"}})))
}

func TestStandard(t *testing.T) {
	for importPath, want := range map[string]bool{
		"fmt": true, "go/ast": true, "math/rand/v2": true, "golang.org/x/exp/maps": false, "k8s.io/api/core/v1": false, module: false,
	} {
		assert.Equal(t, want, standard(importPath), importPath)
	}
}
