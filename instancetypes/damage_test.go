package instancetypes_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// wholeFiles returns a valid file of each format.
func wholeFiles(t *testing.T) map[string]string {
	t.Helper()
	c, err := instancetypes.ReadJSON(strings.NewReader(documented))
	require.NoError(t, err)
	var table bytes.Buffer
	require.NoError(t, c.WriteCSV(&table))
	kwok, err := os.ReadFile(filepath.Join("testdata", "kwok.json"))
	require.NoError(t, err)
	return map[string]string{"JSON": documented, "CSV": table.String(), "KWOK": string(kwok)}
}

// A file that was cut off is never taken for a whole one. In CSV a cut may leave a
// shorter table behind, but nothing invalid.
func TestReadersRefuseWhatWasCutOff(t *testing.T) {
	for name, text := range wholeFiles(t) {
		end := len(strings.TrimSpace(text))
		for cut := range end {
			if name == "KWOK" && cut%7 != 0 {
				continue // a long file
			}
			c, err := readers()[name](strings.NewReader(text[:cut]))
			readerContract(t, c, err)
			if name != "CSV" {
				require.Error(t, err, "%s cut at %d", name, cut)
			}
		}
	}
}

// Nor does a flipped byte lead to anything but a valid catalog or a fault.
func TestReadersSurviveDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	letters := "\x00\"'\\{}[]:,.-+eE0129 \nabc#\xff"
	for name, text := range wholeFiles(t) {
		refused := 0
		for range 1500 {
			damaged := []byte(text)
			for range 1 + r.IntN(3) {
				damaged[r.IntN(len(damaged))] = letters[r.IntN(len(letters))]
			}
			c, err := readers()[name](bytes.NewReader(damaged))
			readerContract(t, c, err)
			if err != nil {
				refused++
			}
		}
		assert.Greater(t, refused, 200, name)
	}
}

// The place that a fault names is where the fault is.
func TestFaultsNameTheirPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for range 100 {
		c := randomCatalog(t, r)
		var object bytes.Buffer
		require.NoError(t, c.WriteJSON(&object))
		spots := strings.Count(object.String(), `"price":`)
		if spots == 0 {
			continue
		}
		// Spoil the price of one offering, and add blank lines in between.
		parts := strings.SplitAfter(object.String(), `"price":`)
		victim := r.IntN(spots)
		parts[victim+1] = "-" + parts[victim+1]
		for i := range parts[1:] {
			parts[i] = strings.Replace(parts[i], "{", strings.Repeat("\n", r.IntN(4))+" {", 1)
		}
		text := strings.Join(parts, "")
		before := strings.Join(parts[:victim+1], "")
		wantLine := 1 + strings.Count(before, "\n")
		wantColumn := len(before) - strings.LastIndexByte(before, '\n')

		_, err := instancetypes.ReadJSON(strings.NewReader(text))
		faults := faultsOf(err)
		require.Len(t, faults, 1, text)
		assert.Equal(t, wantLine, faults[0].Line)
		assert.Equal(t, wantColumn, faults[0].Column)
		assert.Contains(t, faults[0].Field, "].price")
		assert.True(t, strings.HasPrefix(faults[0].Value, "-"), faults[0].Value)
	}
}

func TestFaultsOfTablesNameTheirRow(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	for range 50 {
		rows := 2 + r.IntN(50)
		victim := r.IntN(rows)
		var text strings.Builder
		text.WriteString("name,cpu,memory,zone,capacityType,price\n")
		line := 0
		for i := range rows {
			if r.IntN(3) == 0 {
				text.WriteString("\n# a remark\n")
			}
			price := "0.1"
			if i == victim {
				line, price = 1+strings.Count(text.String(), "\n"), "free"
			}
			fmt.Fprintf(&text, "m%d,1,1Gi,a,spot,%s\n", i, price)
		}
		_, err := instancetypes.ReadCSV(strings.NewReader(text.String()))
		faults := faultsOf(err)
		require.Len(t, faults, 1)
		assert.Equal(t, line, faults[0].Line)
		assert.Equal(t, fmt.Sprintf("m%d", victim), faults[0].Type)
		assert.Equal(t, "price", faults[0].Field)
		assert.Equal(t, "free", faults[0].Value)
	}
}
