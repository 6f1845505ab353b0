package instancetypes

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// at must agree with counting lines in the whole text, however it was read.
func TestInputPositions(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 200 {
		text := make([]byte, r.IntN(300))
		for i := range text {
			text[i] = "ab\n"[r.IntN(3)]
		}
		in := newInput(iotest.OneByteReader(strings.NewReader(string(text))), true)
		_, err := io.ReadAll(in)
		require.NoError(t, err)
		for offset := 0; offset <= len(text); offset += r.IntN(5) {
			before := string(text[:offset])
			want := position{line: 1 + strings.Count(before, "\n"), column: offset - strings.LastIndexByte(before, '\n')}
			require.Equal(t, want, in.at(int64(offset)), "%q at %d", text, offset)
			if offset == len(text) {
				break
			}
		}
	}
}

// What has been passed is forgotten.
func TestInputForgetsWhatIsPassed(t *testing.T) {
	in := newInput(strings.NewReader(strings.Repeat("\n", 100_000)), true)
	buffer := make([]byte, 100)
	for read := int64(0); ; {
		n, err := in.Read(buffer)
		if err != nil {
			break
		}
		read += int64(n)
		in.begin(read)
		in.at(read)
	}
	assert.Equal(t, position{line: 100_001, column: 1}, in.at(100_000))
	assert.Less(t, cap(in.newlines), 1000)
}

func TestInputLimits(t *testing.T) {
	long := strings.NewReader(strings.Repeat("x", maxEntry+1000))
	n, err := io.Copy(io.Discard, newInput(long, true))
	assert.Equal(t, int64(maxEntry), n)
	require.ErrorContains(t, err, "a single entry is larger than 4 MiB")

	in := newInput(repeated{}, false)
	buffer := make([]byte, 1<<20)
	var total int64
	for {
		n, err = readOnce(in, buffer)
		total += n
		in.begin(total)
		if err != nil {
			break
		}
	}
	assert.Equal(t, int64(maxInput), total)
	require.ErrorContains(t, err, "the file is larger than 256 MiB")
	_, again := in.Read(buffer)
	assert.Equal(t, err, again, "an error stays")
}

func readOnce(r io.Reader, p []byte) (int64, error) {
	n, err := r.Read(p)
	return int64(n), err
}

// repeated gives the same byte for ever.
type repeated struct{}

func (repeated) Read(p []byte) (int, error) { return len(p), nil }
