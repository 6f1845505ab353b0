package layering

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// immutable are the structs that only their own package writes, because several stages read them, some of them at the
// same time: a stage that changed an instance would change the plan of a stage that has read it before.
func immutable() map[string][]string {
	return map[string][]string{
		"scheduling/internal/instance": {"Instance", "Packing", "LocationIndex", "Partition", "ExistingNode"},
	}
}

// TestBuiltObjectsAreNotWritten checks that no other package assigns a field of an immutable struct, or an entry of a
// list or map in such a field, e.g. in.Nodes[3] = node. Literals are allowed: they make a new object.
func TestBuiltObjectsAreNotWritten(t *testing.T) {
	d := newDeclarations(t, &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}})
	own := 0
	for _, pkg := range slices.Sorted(maps.Keys(d.files)) {
		d.check(pkg)
		for _, file := range d.files[pkg] {
			for _, at := range d.written(file) {
				if at.pkg == pkg {
					own++
					continue
				}
				assert.Fail(t, at.name+" is not changed after it is made", "%s", d.set.Position(at.pos))
			}
		}
	}
	assert.NotZero(t, own, "package instance itself fills its structs")
}

// write is an assignment to a field of an immutable struct.
type write struct {
	pkg, name string // of the struct
	pos       token.Pos
}

// written lists the assignments of a file to fields of immutable structs.
func (d *declarations) written(file *ast.File) (out []write) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.AssignStmt:
			if x.Tok != token.DEFINE {
				for _, left := range x.Lhs {
					out = append(out, d.fieldsIn(left)...)
				}
			}
		case *ast.IncDecStmt:
			out = append(out, d.fieldsIn(x.X)...)
		}
		return true
	})
	return out
}

// fieldsIn lists the fields of immutable structs through which an assigned expression goes.
func (d *declarations) fieldsIn(e ast.Expr) (out []write) {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if s := d.bodies.Selections[x]; s != nil && s.Kind() == types.FieldVal {
				named, ok := types.Unalias(pointed(s.Recv())).(*types.Named)
				if ok && named.Obj().Pkg() != nil && slices.Contains(immutable()[named.Obj().Pkg().Path()], named.Obj().Name()) {
					out = append(out, write{pkg: named.Obj().Pkg().Path(), name: named.Obj().Name() + "." + x.Sel.Name, pos: x.Pos()})
				}
			}
			e = x.X
		default:
			return out
		}
	}
}
