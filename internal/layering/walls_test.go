package layering

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The bounds of one type, so that a line of code is read with a page of names in mind. Types beyond them stand
// in the tables of walls_table_test.go with their figures.
const (
	mostNames       = 80 // fields and methods, the type's own and those that embedding promotes
	mostMethods     = 30
	mostMethodFiles = 4 // files in which the methods of one type stand
)

// TestPromotedNames holds the names that a line of code reaches on one value by embedding.
func TestPromotedNames(t *testing.T) {
	found := map[string]int{}
	eachStruct(t, func(pkg string, name *types.TypeName, _ *types.Struct) {
		r := reach{names: map[string]bool{}, seen: map[types.Type]bool{}}
		r.collect(name.Type(), 0)
		if len(r.names) > mostNames && r.deepest > 0 {
			found[pkg+"."+name.Name()] = len(r.names)
		}
	})
	holds(t, found, namesReached(), fmt.Sprintf("names reachable on one type, of which it has more than %d", mostNames))
}

// TestMethodsOfOneType holds the methods of one type, and the files in which they stand.
func TestMethodsOfOneType(t *testing.T) {
	methods, files := map[string]int{}, map[string]map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, declaration := range s.ast.Decls {
			if receiver := receiverOf(declaration); receiver != "" {
				name := s.pkg + "." + receiver
				if files[name] == nil {
					files[name] = map[string]bool{}
				}
				methods[name]++
				files[name][s.file] = true
			}
		}
	}
	many, scattered := map[string]int{}, map[string]int{}
	for name, n := range methods {
		if n > mostMethods {
			many[name] = n
		}
		if len(files[name]) > mostMethodFiles {
			scattered[name] = len(files[name])
		}
	}
	holds(t, many, methodsDeclared(), fmt.Sprintf("methods of one type, which has more than %d", mostMethods))
	holds(t, scattered, methodFiles(), fmt.Sprintf("files with methods of one type, which stand in more than %d", mostMethodFiles))
}

// TestEmbeddingAcrossPackages finds structs that embed a type of an internal package which is not their own. All
// methods of the other type become methods of such a struct, without a list of those that it needs.
func TestEmbeddingAcrossPackages(t *testing.T) {
	found := map[string]int{}
	eachStruct(t, func(pkg string, name *types.TypeName, s *types.Struct) {
		for field := range s.Fields() {
			named, ok := types.Unalias(pointed(field.Type())).(*types.Named)
			if !ok || !field.Embedded() || named.Obj().Pkg() == nil {
				continue
			}
			if of := named.Obj().Pkg().Path(); of != pkg && strings.Contains("/"+of+"/", "/internal/") {
				found[pkg+"."+name.Name()]++
			}
		}
	})
	holds(t, found, embeddings(), "types of other internal packages that a struct embeds")
}

// holds compares figures with their ceilings. A lower figure fails, too, so that its ceiling is lowered in the same
// change.
func holds(t *testing.T, found, ceilings map[string]int, of string) {
	t.Helper()
	for _, fault := range beyond(found, ceilings) {
		assert.Fail(t, fault, of)
	}
}

// beyond says in name order where figures differ from their ceilings.
func beyond(found, ceilings map[string]int) (faults []string) {
	names := maps.Clone(found)
	maps.Copy(names, ceilings)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		figure, most := found[name], ceilings[name]
		switch {
		case most == 0:
			faults = append(faults, fmt.Sprintf("%s has %d, and no ceiling", name, figure))
		case figure > most:
			faults = append(faults, fmt.Sprintf("%s has %d; its ceiling is %d", name, figure, most))
		case figure == 0:
			faults = append(faults, fmt.Sprintf("%s is within bounds; remove its ceiling", name))
		case figure < most:
			faults = append(faults, fmt.Sprintf("%s has %d; lower its ceiling of %d", name, figure, most))
		}
	}
	return faults
}

// reach collects the names of one type. A name of this module's packages counts once for each type that declares it.
type reach struct {
	names   map[string]bool
	seen    map[types.Type]bool
	deepest int
}

func (r *reach) collect(t types.Type, depth int) {
	t = types.Unalias(pointed(t))
	if r.seen[t] {
		return
	}
	r.seen[t] = true
	r.deepest = max(r.deepest, depth)
	if named, ok := t.(*types.Named); ok {
		for method := range named.Methods() {
			r.names[fmt.Sprintf("%p.%s()", named.Origin(), method.Name())] = true
		}
		t = named.Underlying()
	}
	s, ok := t.(*types.Struct)
	if !ok {
		return
	}
	for field := range s.Fields() {
		r.names[fmt.Sprintf("%p.%s", s, field.Name())] = true
		if field.Embedded() {
			r.collect(field.Type(), depth+1)
		}
	}
}

func pointed(t types.Type) types.Type {
	if pointer, ok := t.(*types.Pointer); ok {
		return pointer.Elem()
	}
	return t
}

// receiverOf is the name of the type that a method belongs to, "" for other declarations.
func receiverOf(declaration ast.Decl) string {
	method, ok := declaration.(*ast.FuncDecl)
	if !ok || method.Recv == nil {
		return ""
	}
	for at := method.Recv.List[0].Type; ; {
		switch x := at.(type) {
		case *ast.StarExpr:
			at = x.X
		case *ast.IndexExpr:
			at = x.X
		case *ast.IndexListExpr:
			at = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// eachStruct visits the struct types that the packages of the root module declare, with the package's folder.
func eachStruct(t *testing.T, visit func(pkg string, name *types.TypeName, s *types.Struct)) {
	t.Helper()
	d := newDeclarations(t, nil)
	structs := 0
	for _, pkg := range slices.Sorted(maps.Keys(d.files)) {
		scope := d.check(pkg).Scope()
		for _, n := range scope.Names() {
			name, ok := scope.Lookup(n).(*types.TypeName)
			if !ok || name.IsAlias() {
				continue
			}
			if s, ok := name.Type().Underlying().(*types.Struct); ok {
				structs++
				visit(pkg, name, s)
			}
		}
	}
	assert.NotZero(t, structs)
}

// declarations checks the types of the root module's packages, without the packages of others: their types have no
// names here, and cost no time.
type declarations struct {
	set     *token.FileSet
	files   map[string][]*ast.File // by folder
	checked map[string]*types.Package
	bodies  *types.Info // filled from the bodies of functions; nil to pass over these, because that is faster
}

// newDeclarations reads the packages without their tests. bodies may be nil.
func newDeclarations(t *testing.T, bodies *types.Info) *declarations {
	t.Helper()
	d := &declarations{files: map[string][]*ast.File{}, checked: map[string]*types.Package{}, bodies: bodies}
	for _, s := range sources(t) {
		if !s.test {
			d.set, d.files[s.pkg] = s.set, append(d.files[s.pkg], s.ast)
		}
	}
	return d
}

func (d *declarations) Import(importPath string) (*types.Package, error) {
	if folder, ours := inModule(importPath); ours && d.files[folder] != nil {
		return d.check(folder), nil
	}
	foreign := types.NewPackage(importPath, path.Base(importPath))
	foreign.MarkComplete()
	return foreign, nil
}

func (d *declarations) check(folder string) *types.Package {
	if done := d.checked[folder]; done != nil {
		return done
	}
	config := types.Config{
		Importer:         d,
		IgnoreFuncBodies: d.bodies == nil,
		Error:            func(error) {}, // declarations of other packages are missing
	}
	checked, _ := config.Check(folder, d.set, d.files[folder], d.bodies)
	d.checked[folder] = checked
	return checked
}

func TestBeyond(t *testing.T) {
	found := map[string]int{"equal": 3, "lower": 2, "higher": 9, "new": 1}
	assert.Equal(t, []string{
		"gone is within bounds; remove its ceiling",
		"higher has 9; its ceiling is 8",
		"lower has 2; lower its ceiling of 3",
		"new has 1, and no ceiling",
	}, beyond(found, map[string]int{"equal": 3, "lower": 3, "higher": 8, "gone": 4}))
}
