package metrics

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A namespace of a file may be any text, and must not break the metrics of the others.
func TestTextsAreEscaped(t *testing.T) {
	f := money("a", `Line \ one`+"\nand two.", "namespace", "nodepool")
	f.add("2", `b"\`+"\n\xff", "p")
	f.add("1", "a", "p")
	var b strings.Builder
	require.NoError(t, write(&b, []*family{f, count("steps", "Steps.")}))
	require.Equal(t, `# HELP plimsoll_a_dollars_per_hour Line \\ one\nand two.
# TYPE plimsoll_a_dollars_per_hour gauge
# UNIT plimsoll_a_dollars_per_hour dollars_per_hour
plimsoll_a_dollars_per_hour{namespace="a",nodepool="p"} 1
plimsoll_a_dollars_per_hour{namespace="b\"\\\n`+"\uFFFD"+`",nodepool="p"} 2
# HELP plimsoll_steps Steps.
# TYPE plimsoll_steps gauge
# EOF
`, b.String())
}
