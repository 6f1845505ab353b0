package nopanic

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// draws is how often each function is called, with values that are filled ever deeper.
const (
	draws   = 60
	deepest = 8
)

// No exported function or method panics, whichever arguments it gets.
func TestNothingPanics(t *testing.T) {
	all := functions()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		call(t, name, reflect.ValueOf(all[name]))
	}
	kinds := types()
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if kinds[name].Kind() == reflect.Interface {
			continue
		}
		kind := reflect.PointerTo(kinds[name])
		for i := range kind.NumMethod() {
			call(t, name+"."+kind.Method(i).Name, kind.Method(i).Func)
		}
	}
}

// call calls a function several times, unless it is one that may panic.
func call(t *testing.T, name string, f reflect.Value) {
	t.Helper()
	short := name[strings.LastIndex(name, ".")+1:]
	if strings.HasPrefix(short, "Must") || strings.HasPrefix(short, "DeepCopy") {
		return // the latter are generated
	}
	method := strings.Count(name, ".") > 1
	for draw := range uint64(draws) {
		m := &maker{t: t, rng: rand.New(rand.NewPCG(46, draw)), depth: int(draw) % (deepest + 1)}
		var args []reflect.Value
		for i := range f.Type().NumIn() {
			in := f.Type().In(i)
			if i == 0 && method {
				args = append(args, reflect.New(in.Elem()))
				m.fill(args[0].Elem(), m.depth)
				continue
			}
			args = append(args, m.make(in))
		}
		assert.NotPanics(t, func() {
			results := f.Call
			if f.Type().IsVariadic() {
				results = f.CallSlice
			}
			for _, result := range results(args) {
				drain(result)
			}
		}, "%s, draw %d", name, draw)
	}
}

// drain walks through a sequence.
func drain(v reflect.Value) {
	if t := v.Type(); t.Kind() == reflect.Func && !v.IsNil() && t.NumIn() == 1 && t.NumOut() == 0 && t.In(0).Kind() == reflect.Func {
		v.Call([]reflect.Value{answers(t.In(0))})
	}
}

// functions and types name all that can be called.
func TestEverythingIsListed(t *testing.T) {
	var want []string
	for _, folder := range []string{
		"requirements", "offerings", "instancetypes", "instancetypes/ec2", "instancetypes/gcp", "instancetypes/azure", "scheduling",
		"scheduling/provisioning", "scheduling/disruption", "scheduling/manifest", "scheduling/verify",
	} {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, name := range exported(parsed) {
				want = append(want, path.Base(folder)+"."+name)
			}
		}
	}
	for _, name := range want {
		_, isFunction := functions()[name]
		_, isType := types()[name]
		assert.True(t, isFunction || isType, "add %s to functions or types", name)
	}
}

// exported are the names of the exported functions of a file, and of the exported types that have exported methods there.
func exported(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || !d.Name.IsExported() {
			continue
		}
		if d.Recv == nil {
			names = append(names, d.Name.Name)
			continue
		}
		of := d.Recv.List[0].Type
		if pointer, ok := of.(*ast.StarExpr); ok {
			of = pointer.X
		}
		if name, ok := of.(*ast.Ident); ok && name.IsExported() && !slices.Contains(names, name.Name) {
			names = append(names, name.Name)
		}
	}
	return names
}
