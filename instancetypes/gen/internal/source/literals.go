package source

import (
	"encoding/json"
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
	return parseGoText(path, raw)
}

func parseGoText(path string, raw []byte) (f *goFile, err error) {
	f = &goFile{path: path, fset: token.NewFileSet(), raw: raw}
	if f.file, err = parser.ParseFile(f.fset, path, raw, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	return f, nil
}

// generatedDate returns the day in the file's remark about when it was generated.
func (f *goFile) generatedDate() (string, error) {
	m := regexp.MustCompile(`generated at (\d{4}-\d\d-\d\d)T`).FindSubmatch(f.raw)
	if m == nil {
		return "", fmt.Errorf("%s: says nowhere when it was generated", f.path)
	}
	return string(m[1]), nil
}

// literal decodes the composite literal that a package-level variable is set to, by the rules
// of encoding/json: fields of structs and keys of maps by their names.
func (f *goFile) literal(variable string, into any) error {
	for _, decl := range f.file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, spec := range gen.Specs {
			v := spec.(*ast.ValueSpec) // a declaration of variables has no others
			for i, id := range v.Names {
				if id.Name != variable || i >= len(v.Values) {
					continue
				}
				text, err := json.Marshal(value(v.Values[i]))
				if err == nil {
					err = json.Unmarshal(text, into)
				}
				if err != nil {
					return fmt.Errorf("%s: variable %s: %w", f.fset.Position(id.Pos()), variable, err)
				}
				return nil
			}
		}
	}
	return fmt.Errorf("%s: no variable %s", f.path, variable)
}

// value turns an expression of literals into the value to which encoding/json would decode it. Any
// other expression becomes a list of one string, because that fits no field of the callers' types.
func value(e ast.Expr) any {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return value(e.X)
		}
	case *ast.CompositeLit:
		return elements(e)
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return s
		}
		return json.Number(e.Value)
	case *ast.Ident:
		if e.Name == "true" || e.Name == "false" {
			return e.Name == "true"
		}
	}
	return []any{fmt.Sprintf("%T", e)}
}

func elements(lit *ast.CompositeLit) any {
	list, fields := []any{}, map[string]any{}
	for _, element := range lit.Elts {
		kv, ok := element.(*ast.KeyValueExpr)
		if !ok {
			list = append(list, value(element))
			continue
		}
		switch key := kv.Key.(type) {
		case *ast.Ident: // field of a struct
			fields[key.Name] = value(kv.Value)
		case *ast.BasicLit: // key of a map
			fields[fmt.Sprint(value(key))] = value(kv.Value)
		default:
			list = append(list, value(key))
		}
	}
	if len(list) > 0 {
		return list
	}
	return fields
}
