package crosscheck

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMarkdown(t *testing.T) {
	r := Report{Cloud: "Mars", Ours: "a@1", Theirs: "b@2", Note: "One is of Monday.", Pairs: []Pair{
		{"east", "small", "spot", 1000, 1005}, {"east", "large", "on-demand", 1000, 900}, {"west", "large", "on-demand", 990, 1000},
	}}
	assert.Equal(t, 1, r.Differing())
	assert.Equal(t, `# Prices of Mars in two sources

Written by the command in instancetypes/gen.

- embedded: a@1
- compared with: b@2

Of 3 prices that both have, 2 (66.67 %) agree within 1 %. One is of Monday.

| region | prices of both | within 1 % |
|---|---|---|
| east | 2 | 1 |
| west | 1 | 1 |

| differs | region | capacity type | embedded | other source |
|---|---|---|---|---|
| large | east | on-demand | 0.000001 | 0.0000009 |
`, r.Markdown())
	r.Pairs = r.Pairs[2:]
	assert.NotContains(t, r.Markdown(), "| differs |")
}
