package markdown

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func written(t *testing.T, text *Text) string {
	t.Helper()
	var b strings.Builder
	_, err := text.WriteTo(&b)
	require.NoError(t, err)
	return b.String()
}

// A name from a manifest can neither break a table nor bring in links, images, mentions of HTML or code.
func TestTextIsShownAsItIs(t *testing.T) {
	text := &Text{}
	text.Table([]string{"Name", "$"}, "lr")
	text.Row("a|b\n`c` <img src=x> [d](e) **f** & \x00", "1")
	text.Open("<b>1 node*</b>")
	text.Close()
	require.Equal(t, `
| Name | $ |
| :-- | --: |
| a\|b·\`+"`c\\`"+` &lt;img src=x> \[d\](e) \*\*f\*\* &amp; · | 1 |

<details><summary>&lt;b&gt;1 node*&lt;/b&gt;</summary>

</details>
`, written(t, text))
}
