package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the folder of the root module, seen from this package.
const root = "../.."

// source is one parsed Go file.
type source struct {
	file string // path in the repository
	pkg  string // folder in the repository
	test bool
	ast  *ast.File
	set  *token.FileSet // of the positions in ast, the same for all files
	size int            // lines
}

// imports are the file's import paths.
func (s source) imports() []string {
	paths := make([]string, 0, len(s.ast.Imports))
	for _, spec := range s.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// sources parses the Go files of the root module. Nested modules have requirements
// of their own, and testdata is data.
func sources(t *testing.T) []source {
	t.Helper()
	files := token.NewFileSet()
	var all []source
	walk(t, func(name string, entry fs.DirEntry) error {
		if entry.IsDir() {
			if name != "." && (path.Base(name) == "testdata" || exists(filepath.Join(root, name, "go.mod"))) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(files, filepath.Join(root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, source{
			file: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), ast: parsed, set: files,
			size: files.File(parsed.Pos()).LineCount(),
		})
		return nil
	})
	require.NotEmpty(t, all)
	return all
}

// walk visits the repository in name order. It skips folders that start with a dot, but for those of the build.
func walk(t *testing.T, visit func(name string, entry fs.DirEntry) error) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if entry.IsDir() && len(base) > 1 && base[0] == '.' && base != ".ci" && base != ".github" || base == "node_modules" {
			return fs.SkipDir
		}
		return visit(name, entry)
	})
	require.NoError(t, err)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// inModule turns the import path of a package of ours into its folder.
func inModule(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}
