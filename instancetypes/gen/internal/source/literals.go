package source

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
)

// goFile is a parsed Go file of which literals are read.
type goFile struct {
	path string
	fset *token.FileSet
	file *ast.File
	raw  []byte
}

func parseGo(path string) (*goFile, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &goFile{path: path, fset: token.NewFileSet(), raw: raw}
	if f.file, err = parser.ParseFile(f.fset, path, raw, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *goFile) errorf(n ast.Node, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{f.fset.Position(n.Pos())}, args...)...)
}

// generatedDate returns the day in the file's remark about when it was generated.
func (f *goFile) generatedDate() (string, error) {
	m := regexp.MustCompile(`generated at (\d{4}-\d\d-\d\d)T`).FindSubmatch(f.raw)
	if m == nil {
		return "", fmt.Errorf("%s: says nowhere when it was generated", f.path)
	}
	return string(m[1]), nil
}

// variable returns the composite literal that a package-level variable is set to.
func (f *goFile) variable(name string) (*ast.CompositeLit, error) {
	for _, decl := range f.file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, spec := range gen.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, id := range v.Names {
				if id.Name != name || i >= len(v.Values) {
					continue
				}
				if lit, ok := v.Values[i].(*ast.CompositeLit); ok {
					return lit, nil
				}
				return nil, f.errorf(v.Values[i], "%s is not a composite literal", name)
			}
		}
	}
	return nil, fmt.Errorf("%s: no variable %s", f.path, name)
}

// entries calls f with the key and the value of every element of a literal.
func (f *goFile) entries(lit *ast.CompositeLit, visit func(key string, value ast.Expr) error) error {
	for _, element := range lit.Elts {
		kv, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return f.errorf(element, "want key: value")
		}
		key := ""
		switch k := kv.Key.(type) {
		case *ast.Ident: // field of a struct
			key = k.Name
		case *ast.BasicLit: // key of a map
			s, err := strconv.Unquote(k.Value)
			if err != nil {
				return f.errorf(k, "key %s: %w", k.Value, err)
			}
			key = s
		default:
			return f.errorf(kv.Key, "want a literal key")
		}
		if err := visit(key, kv.Value); err != nil {
			return err
		}
	}
	return nil
}

// number returns the digits of a numeric literal.
func (f *goFile) number(e ast.Expr) (string, error) {
	if lit, ok := e.(*ast.BasicLit); ok && (lit.Kind == token.INT || lit.Kind == token.FLOAT) {
		return lit.Value, nil
	}
	return "", f.errorf(e, "want a number")
}

func (f *goFile) integer(e ast.Expr) (int64, error) {
	digits, err := f.number(e)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, f.errorf(e, "%w", err)
	}
	return n, nil
}

// composite returns e as a composite literal, taking an & off.
func (f *goFile) composite(e ast.Expr) (*ast.CompositeLit, error) {
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	if lit, ok := e.(*ast.CompositeLit); ok {
		return lit, nil
	}
	return nil, f.errorf(e, "want a composite literal")
}
