package instancetypes_test

import (
	"bytes"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

func readers() map[string]func(io.Reader) (*instancetypes.Catalog, error) {
	return map[string]func(io.Reader) (*instancetypes.Catalog, error){
		"JSON": instancetypes.ReadJSON, "CSV": instancetypes.ReadCSV, "KWOK": instancetypes.ReadKWOK,
	}
}

// readerContract checks the rules that hold for every reader and every input.
func readerContract(t *testing.T, c *instancetypes.Catalog, err error) {
	t.Helper()
	if (err == nil) != (c != nil) {
		t.Fatalf("catalog %t, error %v", c != nil, err)
	}
	if err != nil {
		if len(faultsOf(err)) == 0 {
			t.Fatalf("error without a fault: %v", err)
		}
		return
	}
	if c.Len() == 0 {
		t.Fatal("read an empty catalog")
	}
	for it := range c.All() {
		if err := it.Validate(); err != nil {
			t.Fatal(err)
		}
	}
}

// fuzzReader checks the rules of readerContract with any text, and that a catalog stays the same when it is written and
// read again.
func fuzzReader(f *testing.F, texts []string, read func(io.Reader) (*instancetypes.Catalog, error),
	write func(*instancetypes.Catalog, io.Writer) error, back func(io.Reader) (*instancetypes.Catalog, error),
) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := read(strings.NewReader(text))
		readerContract(t, c, err)
		if err != nil {
			return
		}
		var out bytes.Buffer
		require.NoError(t, write(c, &out))
		again, err := back(bytes.NewReader(out.Bytes()))
		require.NoError(t, err, out.String())
		sameCatalog(t, c, again)
	})
}

// endless repeats a text for ever, and counts the bytes that were read.
type endless struct {
	text  string
	at    int
	taken int64
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	e.taken += int64(len(p))
	return len(p), nil
}

// A reader of an endless input returns an error early and allocates little memory.
func TestReadersGiveUpOnJunk(t *testing.T) {
	for _, tc := range []struct{ name, start, repeat string }{
		{"noise", "", "\x00\x8f7k\xff\n"},
		{"zeros", "", "\x00"},
		{"one long line", "", "x"},
		{"blank", "", " "},
		{"blank lines", "", "\n"},
		{"an endless string", `{"instanceTypes":[{"name":"`, "x"},
		{"an endless key", `{"`, "x"},
		{"an endless number", `{"version":`, "1"},
		{"an endless type", `{"instanceTypes":[{"labels":{`, `"a":"b",`},
		{"arrays in arrays", "", "["},
		{"objects in objects", "", `{"a":`},
		{"arrays in an unknown field", `{"x":`, "["},
		{"blanks in a list", `{"instanceTypes":[`, " \n"},
		{"an endless entry", `[{"name":"`, "x"},
		{"arrays in an entry", `[{"name":`, "["},
		{"quoted for ever", `name,cpu,memory` + "\n\"", "x\n"},
		{"endless headings", "", "name,"},
		{"rows that do not fit", "name,cpu,memory\n", "a\n"},
		{"comments", "#", "#\n"},
	} {
		for name, read := range readers() {
			t.Run(name+" "+tc.name, func(t *testing.T) {
				junk := &endless{text: tc.repeat}
				limited := io.LimitReader(junk, 40<<20)
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				c, err := read(io.MultiReader(strings.NewReader(tc.start), limited))
				runtime.ReadMemStats(&after)
				readerContract(t, c, err)
				require.Error(t, err)
				assert.Less(t, len(err.Error()), 64<<10)
				assert.Less(t, int64(after.HeapSys)-int64(before.HeapSys), int64(128<<20))
			})
		}
	}
}

func TestReadersStopAtTheLimitOfAnEntry(t *testing.T) {
	for name, tc := range map[string]struct{ read, start string }{
		"JSON": {"JSON", `{"instanceTypes":[{"name":"`},
		"CSV":  {"CSV", "name,cpu\n\""},
		"KWOK": {"KWOK", `[{"name":"`},
	} {
		junk := &endless{text: "x"}
		_, err := readers()[tc.read](io.MultiReader(strings.NewReader(tc.start), junk))
		require.ErrorContains(t, err, "a single entry is larger than 4 MiB", name)
		assert.Less(t, junk.taken, int64(5<<20), name)
	}
}

// A long file of honest entries is not junk.
func TestReadersTakeFilesBeyondTheLimitOfAnEntry(t *testing.T) {
	var table bytes.Buffer
	table.WriteString("name,cpu,memory,zone,capacityType,price,label:filler\n")
	filler := strings.Repeat("f", 63)
	for zone := range 60_000 {
		table.WriteString("m,1,1Gi,zone-")
		table.WriteString(strings.Repeat("z", zone%7))
		table.WriteString(string(rune('a'+zone%26)) + "-" + strconv.Itoa(zone) + ",spot,0.1," + filler + "\n")
	}
	require.Greater(t, table.Len(), 5<<20)
	c, err := instancetypes.ReadCSV(&table)
	require.NoError(t, err)
	m, _ := c.Get("m")
	assert.Len(t, m.Offerings, 60_000)
}
