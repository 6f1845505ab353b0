package compact_test

import (
	"bytes"
	"compress/gzip"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/compact"
)

func sample() *compact.Table {
	return &compact.Table{
		Facts: []compact.Fact{{Key: "region", Value: "us-east-1"}, {Key: "empty", Value: ""}, {Key: "tabbed", Value: "a\tb"}},
		Columns: []compact.Column{
			{Name: "name", Cells: []string{"m5.large", "m5.xlarge"}},
			{Name: "vcpu", Cells: []string{"2", ""}},
			{Name: "spot", Cells: []string{"315 8 1", ""}},
		},
	}
}

const sampleText = `plimsoll-table 1
fact	region	us-east-1
fact	empty	
fact	tabbed	a	b
rows	2
column	name
m5.large
m5.xlarge
column	vcpu
2

column	spot
315 8 1

`

func TestTextIsTheDocumentedForm(t *testing.T) {
	text, err := sample().Text()
	require.NoError(t, err)
	assert.Equal(t, sampleText, string(text))

	table, err := compact.Parse(sampleText)
	require.NoError(t, err)
	assert.Equal(t, sample(), table)
}

func TestEncodeIsDeterministicAndDecodes(t *testing.T) {
	first, err := sample().Encode()
	require.NoError(t, err)
	second, err := sample().Encode()
	require.NoError(t, err)
	assert.Equal(t, first, second)
	assert.Equal(t, []byte{0, 0, 0, 0}, first[4:8], "the gzip header must not hold a time")

	table, err := compact.Decode(first)
	require.NoError(t, err)
	assert.Equal(t, sample(), table)
	assert.Equal(t, 2, table.Rows())
}

// Whatever can be written is read again.
func TestRandomTablesSurviveTheRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	text := func() string {
		b := make([]rune, rng.IntN(8))
		for i := range b {
			b[i] = []rune("ab\r\x00 .é9\\")[rng.IntN(9)]
		}
		return string(b)
	}
	for range 300 {
		want := &compact.Table{}
		for i := range rng.IntN(4) {
			want.Facts = append(want.Facts, compact.Fact{Key: "k" + strconv.Itoa(i), Value: text() + "\t" + text()})
		}
		rows := rng.IntN(6)
		for i := range 1 + rng.IntN(4) {
			c := compact.Column{Name: "c" + strconv.Itoa(i) + text(), Cells: make([]string, rows)}
			for j := range c.Cells {
				c.Cells[j] = text()
			}
			want.Columns = append(want.Columns, c)
		}
		data, err := want.Encode()
		require.NoError(t, err)
		got, err := compact.Decode(data)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestEncodeReportsEveryFault(t *testing.T) {
	table := &compact.Table{
		Facts: []compact.Fact{{Key: "a", Value: "x\ny"}, {Key: "a"}, {Key: "", Value: "v"}},
		Columns: []compact.Column{
			{Name: "c", Cells: []string{"1"}},
			{Name: "c", Cells: []string{"1", "2\n"}},
			{Name: "t\tb", Cells: []string{"1"}},
		},
	}
	_, err := table.Encode()
	require.Error(t, err)
	for _, want := range []string{
		`fact "a": value "x\ny" holds a line feed`, `fact "a": occurs twice`, `fact "": want a name`,
		`column "c": occurs twice`, `column "c": has 2 cells, the first column 1`,
		`column "c", row 1: "2\n" holds a line feed`, `column "t\tb": want a name`,
	} {
		assert.ErrorContains(t, err, want)
	}
	_, err = (&compact.Table{Columns: []compact.Column{{Name: "big", Cells: []string{strings.Repeat("x", compact.MaxText)}}}}).Encode()
	assert.ErrorContains(t, err, "at most")
	_, err = (&compact.Table{Facts: make([]compact.Fact, 300)}).Encode()
	assert.ErrorContains(t, err, "300 facts")
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", `line 1: want "plimsoll-table 1"`},
		{"another version", "plimsoll-table 2\nrows\t0\n", `line 1: want "plimsoll-table 1"`},
		{"no rows", "plimsoll-table 1\n", "line 2: want a fact or the number of rows"},
		{"no line feed after rows", "plimsoll-table 1\nrows\t0", "line 2: want a fact or the number of rows"},
		{"fact without value", "plimsoll-table 1\nfact\tregion\nrows\t0\n", "line 2: fact \"region\""},
		{"fact without key", "plimsoll-table 1\nfact\t\tx\nrows\t0\n", "line 2: fact"},
		{"fact twice", "plimsoll-table 1\nfact\ta\t1\nfact\ta\t2\nrows\t0\n", "line 3: fact \"a\\t2\""},
		{"negative rows", "plimsoll-table 1\nrows\t-1\n", `line 2: rows "-1"`},
		{"rows in another spelling", "plimsoll-table 1\nrows\t+1\ncolumn\ta\nx\n", `line 2: rows "+1"`},
		{"rows that cannot be", "plimsoll-table 1\nrows\t9000000000\ncolumn\ta\n", "line 2: rows 9000000000: only 9 bytes follow"},
		{"no column", "plimsoll-table 1\nrows\t1\n\n", "want a column"},
		{"rows without a column", "plimsoll-table 1\nrows\t0\n", ""},
		{"column twice", "plimsoll-table 1\nrows\t0\ncolumn\ta\ncolumn\ta\n", `line 4: column "a"`},
		{"column without name", "plimsoll-table 1\nrows\t0\ncolumn\t\n", `line 3: column ""`},
		{"column with a tab", "plimsoll-table 1\nrows\t0\ncolumn\ta\tb\n", `line 3: column "a\tb"`},
		{"too few cells", "plimsoll-table 1\nrows\t3\ncolumn\ta\nx\n", "line 3: want 3 cells, only 2 bytes follow"},
		{"last cell unfinished", "plimsoll-table 1\nrows\t2\ncolumn\tabc\nxyz\nx", "line 5: want 2 cells, found 1"},
		{"a stray line", "plimsoll-table 1\nrows\t1\ncolumn\ta\nx\ny\n", "line 5: want a column"},
		{"too many facts", "plimsoll-table 1\n" + numbered("fact\tk%\t\n", 257) + "rows\t0\n", "line 258: more than 256 facts"},
		{"too many columns", "plimsoll-table 1\nrows\t0\n" + numbered("column\tk%\n", 257), "line 259: more than 256 columns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := compact.Parse(tt.text)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func numbered(pattern string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(pattern, "%", strconv.Itoa(i)))
	}
	return b.String()
}

func TestDecodeRefusesBombsAndDamage(t *testing.T) {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range compact.MaxText >> 10 {
		_, err := w.Write(make([]byte, 1<<10+1))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	_, err := compact.Decode(bomb.Bytes())
	require.ErrorContains(t, err, "more than")

	good, err := sample().Encode()
	require.NoError(t, err)
	_, err = compact.Decode(good[:len(good)-1])
	require.Error(t, err)
	_, err = compact.Decode(nil)
	require.Error(t, err)
	// Every damaged byte past the header's free fields is noticed by the checksum
	// or, in the header, by the format; a table that decodes is the right one.
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x55
		if table, err := compact.Decode(bad); err == nil {
			require.Equal(t, sample(), table, "byte %d", i)
		}
	}
}

func TestReaderCollectsFaults(t *testing.T) {
	table := &compact.Table{
		Facts: []compact.Fact{{Key: "region", Value: "r"}},
		Columns: []compact.Column{
			{Name: "n", Cells: []string{"1", "", "x", "-1"}},
			{Name: "l", Cells: []string{"3 0 2", "", "1 -1", "9223372036854775807 1"}},
		},
	}
	r := compact.NewReader(table)
	assert.Equal(t, "r", r.Fact("region"))
	assert.Equal(t, []string{"1", "", "x", "-1"}, r.Text("n"))
	require.NoError(t, r.Err())

	assert.Equal(t, []int64{1, 0, 0, 0}, r.Ints("n"))
	assert.Equal(t, [][]int64{{3, 3, 5}, nil, nil, nil}, r.Ascending("l"))
	assert.Equal(t, make([]string, 4), r.Text("missing"))
	assert.Empty(t, r.Fact("missing"))
	for _, want := range []string{
		`column "n", row 2: "x": want a whole number`, `column "n", row 3: "-1"`,
		`column "l", row 2: "1 -1": "-1": want`, `column "l", row 3: "9223372036854775807 1": the sum`,
		`column "missing": is missing`, `fact "missing": is missing`,
	} {
		assert.ErrorContains(t, r.Err(), want)
	}
	bad := &compact.Table{Columns: []compact.Column{{Name: "n", Cells: strings.Split(strings.Repeat("x ", 99), " ")}}}
	r = compact.NewReader(bad)
	r.Ints("n")
	assert.Equal(t, 19, strings.Count(r.Err().Error(), "\n"), "the list of faults is bounded")
}

func TestAscending(t *testing.T) {
	for _, tt := range []struct {
		values []int64
		want   string
		ok     bool
	}{
		{nil, "", true},
		{[]int64{0}, "0", true},
		{[]int64{315, 323, 324, 324}, "315 8 1 0", true},
		{[]int64{math.MaxInt64}, "9223372036854775807", true},
		{[]int64{2, 1}, "", false},
		{[]int64{-1}, "", false},
	} {
		got, ok := compact.Ascending(tt.values)
		assert.Equal(t, tt.want, got, "%v", tt.values)
		assert.Equal(t, tt.ok, ok, "%v", tt.values)
		if ok {
			r := compact.NewReader(&compact.Table{Columns: []compact.Column{{Name: "l", Cells: []string{got}}}})
			assert.Equal(t, tt.values, r.Ascending("l")[0])
			require.NoError(t, r.Err())
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sampleText)
	f.Add("plimsoll-table 1\nrows\t0\n")
	f.Add("plimsoll-table 1\nfact\ta\tb\nrows\t1\ncolumn\tx\n5\n")
	f.Add("plimsoll-table 1\nrows\t9\ncolumn\tx\n\n\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := compact.Parse(text)
		if err != nil {
			return
		}
		again, err := table.Text()
		require.NoError(t, err)
		require.Equal(t, text, string(again), "a text has one table and a table one text")
		r := compact.NewReader(table)
		for _, c := range table.Columns {
			require.Len(t, r.Ints(c.Name), table.Rows())
			require.Len(t, r.Ascending(c.Name), table.Rows())
		}
	})
}

func FuzzDecode(f *testing.F) {
	data, err := sample().Encode()
	require.NoError(f, err)
	f.Add(data)
	f.Add(data[:20])
	f.Add([]byte{})
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := compact.Decode(data)
		if err != nil {
			return
		}
		again, err := table.Encode()
		require.NoError(t, err)
		same, err := compact.Decode(again)
		require.NoError(t, err)
		require.Equal(t, table, same)
	})
}
