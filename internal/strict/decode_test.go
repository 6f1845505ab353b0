package strict_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// object has a field of each kind that the decoder tells apart.
type object struct {
	Text     string              `json:"text"`
	Truth    bool                `json:"truth"`
	Small    int32               `json:"small"`
	Share    float64             `json:"share"`
	Number   json.Number         `json:"number"`
	Bytes    []byte              `json:"bytes"`
	Labels   map[string]string   `json:"labels"`
	Amounts  corev1.ResourceList `json:"amounts"`
	Limits   corev1.ResourceList `json:"limits"`
	List     []object            `json:"list"`
	Object   *object             `json:"object"`
	Time     metav1.Time         `json:"time"`
	Duration metav1.Duration     `json:"duration"`
	Price    offerings.Price     `json:"price"`
}

// decoded returns the faults and unknown fields that Decode finds, a line for each; those of unknown fields begin with
// a question mark.
func decoded(text string, into any, rules strict.Rules) (lines []string, r *strict.Result) {
	rules.MaxFaults = 20
	r = strict.Decode([]byte(text), into, rules)
	for _, f := range r.Faults {
		lines = append(lines, fmt.Sprintf("%s: %v %s", f.Field, f.Value, f.Message))
	}
	for _, path := range r.Unknown {
		lines = append(lines, "?"+path)
	}
	return lines, r
}

func TestDecode(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"nothing wrong":    {`{"text":"a","truth":true,"small":1,"share":0.5,"number":1e3,"bytes":"YQ==","labels":{"a":"b"},"amounts":{"cpu":"1"},"list":[{}],"price":0.1}`, nil},
		"null is absent":   {`{"text":null,"labels":null,"list":null,"object":null,"amounts":null}`, nil},
		"null entries":     {`{"labels":{"a":null},"list":[null]}`, []string{"labels.a: <nil> is null", "list[0]: <nil> is null"}},
		"text":             {`{"text":1,"labels":{"a/b":true}}`, []string{"labels[a/b]: true is not text: put it into quotes (YAML takes y, n, yes, no, on and off for true or false)", "text: 1 is not text: put it into quotes"}},
		"kinds":            {`{"truth":"yes","labels":[],"list":{},"object":7}`, []string{"labels: [] is not an object", "list: map[] is not a list", "object: 7 is not an object", "truth: yes is not true or false"}},
		"numbers":          {`{"small":3000000000,"share":"x","number":"x"}`, []string{"number: x is not a number", "share: x is not a number", "small: 3000000000 is not a whole number of 32 bits"}},
		"types of others":  {`{"time":"now","duration":"3d","bytes":"-"}`, []string{"bytes: - does not fit the field's type ", `duration: 3d is no duration: there is no unit for days or weeks, write hours (1 day is 24h)`, `time: now is not a time such as "2026-01-31T12:00:00Z"`}},
		"own types":        {`{"price":"1"}`, []string{"price: 1 want a JSON number of USD per hour"}},
		"quantities":       {`{"amounts":{"cpu":"two"},"limits":{"a":"1e99999","b":1e9999}}`, []string{`amounts.cpu: two is not a quantity such as "500m" or "2Gi"`, "limits.a: 1e99999 is not a quantity: its exponent is too large", "limits.b: 1e9999 is not a quantity: its exponent is too large"}},
		"deep":             {`{"list":[{},{"object":{"list":[{"text":[]}]}}]}`, []string{"list[1].object.list[0].text: [] is not text: put it into quotes"}},
		"unknown":          {`{"Text":"a","list":[{"txt":1}]}`, []string{"?Text", "?list[0].txt"}},
		"duplicates":       {`{"text":"a","labels":{"a":"","a":""},"text":"b"}`, []string{"labels.a: <nil> is given twice", "text: <nil> is given twice"}},
		"all at once":      {`{"small":"x","small":1.5,"txt":1,"list":[{"text":1,"tx":2}]}`, []string{"list[0].text: 1 is not text: put it into quotes", "small: 1.5 is not a whole number of 32 bits", "small: <nil> is given twice", "?list[0].tx", "?txt"}},
		"no JSON":          {`{"text"`, []string{": <nil> unexpected EOF"}},
		"more than one":    {`{} {}`, []string{": <nil> there is more text after the end of the document"}},
		"not even related": {`[1]`, []string{": [1] is not an object"}},
	} {
		t.Run(name, func(t *testing.T) {
			lines, r := decoded(tc.text, &object{}, strict.Rules{})
			assert.Equal(t, tc.want, lines)
			hasFaults := len(r.Faults) > 0 && name != "duplicates" && name != "null entries"
			assert.Equal(t, !hasFaults, r.OK)
		})
	}
}

// The values without a fault are decoded although others have one.
func TestDecodeRest(t *testing.T) {
	var o object
	_, r := decoded(`{"text":"a","small":"x","list":[{"text":"b","price":"x"},7,{"text":"c"}],"amounts":{"cpu":"x","memory":"1Gi"}}`, &o, strict.Rules{})
	require.False(t, r.OK)
	assert.Equal(t, []string{"a", "b", "", "c"}, []string{o.Text, o.List[0].Text, o.List[1].Text, o.List[2].Text})
	assert.Equal(t, corev1.ResourceList{"memory": resource.MustParse("1Gi")}, o.Amounts)
}

func TestRules(t *testing.T) {
	lines, _ := decoded(`{"labels":{"a":null}}`, &object{}, strict.Rules{NullEntries: true})
	assert.Empty(t, lines)

	check := func(field, name string, value, written any) string {
		if n, ok := value.(*int32); ok && *n < 0 {
			return fmt.Sprintf("is refused (%s, %s, %v)", field, name, written)
		}
		return ""
	}
	lines, _ = decoded(`{"object":{"small":-1}}`, &object{}, strict.Rules{Check: check})
	assert.Equal(t, []string{"object.small: -1 is refused (object.small, small, -1)"}, lines)
	lines, _ = decoded(`{"object":{"small":-1}}`, &object{}, strict.Rules{Check: check, Accepted: func() bool { return true }})
	assert.Empty(t, lines, "of an accepted document nothing more is checked")
	lines, _ = decoded(`{"text":1}`, &object{}, strict.Rules{Accepted: func() bool { return true }})
	assert.Len(t, lines, 1, "a document that was not decoded cannot be accepted")

	r := strict.Decode([]byte(`{"list":[1,2,3,4]}`), &object{}, strict.Rules{MaxFaults: 2})
	assert.Len(t, r.Faults, 2)
}

func TestOffsets(t *testing.T) {
	text := ` { "text" : "a", "list":[ {} , {"text": "b"}], "labels":{"a/b":"c"} }`
	r := strict.Decode([]byte(text), &object{}, strict.Rules{})
	for field, want := range map[string][2]string{
		"": {"{ \"text\"", "{ \"text\""}, "text": {`"text" :`, `"a"`}, "list": {`"list"`, `[ {}`}, "list[0]": {`{} ,`, `{} ,`},
		"list[1].text": {`"text": "b"`, `"b"`}, "labels[a/b]": {`"a/b"`, `"c"`}, "list[1].price": {`{"text": "b"`, `{"text": "b"`},
	} {
		assert.Equal(t, want[0], text[r.KeyOffset(field):][:len(want[0])], field)
		assert.Equal(t, want[1], text[r.ValueOffset(field):][:len(want[1])], field)
	}
	assert.True(t, r.Has("list[1].text"))
	assert.False(t, r.Has("list[0].text"))
}

// Every JSON document is decoded or refused, in no time.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{"text":1}`, `{"limits":{"cpu":"1e99999"}}`, `[[]]`, `{"list":[{"a":1,"a":2}]}`, "nul", `{"duration":"-1h"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := strict.Decode([]byte(text), &object{}, strict.Rules{MaxFaults: 5})
		if !r.OK && len(r.Faults) == 0 {
			t.Fatalf("%q was refused without a reason", text)
		}
	})
}
