package layering

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCommentsBeginWithTheirName finds comments of functions and types that begin with another word than the name below
// them, because it is mostly a former name, or the reader must guess what the sentence is about.
func TestCommentsBeginWithTheirName(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || ast.IsGenerated(s.ast) {
			continue
		}
		for _, decl := range s.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				assert.True(t, beginsWith(d.Doc, d.Name.Name), "%s: the comment of %s", s.file, d.Name.Name)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if x, ok := spec.(*ast.TypeSpec); ok {
						doc := x.Doc
						if doc == nil && len(d.Specs) == 1 {
							doc = d.Doc
						}
						assert.True(t, beginsWith(doc, x.Name.Name), "%s: the comment of %s", s.file, x.Name.Name)
					}
				}
			}
		}
	}
}

// beginsWith reports whether a comment, if there is one, begins with a name, after an article or not.
func beginsWith(doc *ast.CommentGroup, name string) bool {
	words := strings.Fields(doc.Text())
	if len(words) == 0 {
		return true
	}
	first := words[0]
	if (first == "A" || first == "An" || first == "The") && len(words) > 1 {
		first = words[1]
	}
	return strings.TrimSuffix(strings.Trim(first, ",:;[]"), "'s") == name
}
