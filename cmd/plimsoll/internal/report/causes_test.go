package report_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/report"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// TestEachCauseHasAMeaning reads the causes that package disruption declares, so that a new one is not printed as "".
func TestEachCauseHasAMeaning(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../../scheduling/disruption/step.go", nil, 0)
	require.NoError(t, err)
	causes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "CauseCode" {
			code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			assert.NotEmpty(t, report.Meaning(disruption.CauseCode(code)), code)
			causes++
		}
		return true
	})
	assert.Greater(t, causes, 20)
}
