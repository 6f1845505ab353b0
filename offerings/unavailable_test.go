package offerings

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func key(instanceType string, o Offering) Key { return o.Key(instanceType) }

func TestUnavailableEmpty(t *testing.T) {
	var none *Unavailable
	for name, u := range map[string]*Unavailable{"nil": none, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			assert.False(t, u.Has(key("m7i.large", spotOffering()), noon()))
			assert.Zero(t, u.Len())
			assert.Empty(t, u.Keys())
			for range u.All() {
				t.Fatal("an empty record has no marks")
			}
			u.Prune(noon())
		})
	}
}

// A40: a mark covers type, zone and capacity type, for three minutes.
func TestUnavailableMark(t *testing.T) {
	var u Unavailable
	u.Mark(Key{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: Spot}, noon(), 0)

	o := spotOffering()
	assert.True(t, u.Has(key("m7i.large", o), noon()))
	assert.True(t, u.Has(key("m7i.large", o), noon().Add(3*time.Minute-1)))
	assert.False(t, u.Has(key("m7i.large", o), noon().Add(3*time.Minute)), "the end is out")

	assert.False(t, u.Has(key("m7i.xlarge", o), noon()), "another type")
	elsewhere, onDemand := o, o
	elsewhere.Zone, onDemand.CapacityType = "us-east-1b", OnDemand
	assert.False(t, u.Has(key("m7i.large", elsewhere), noon()), "another zone")
	assert.False(t, u.Has(key("m7i.large", onDemand), noon()), "another capacity type")
}

// A40: marking again extends, and never shortens.
func TestUnavailableExtends(t *testing.T) {
	k := Key{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: Spot}
	ends := func(u *Unavailable) time.Time {
		for _, until := range u.All() {
			return until
		}
		return time.Time{}
	}
	var u Unavailable
	u.Mark(k, noon(), time.Hour)
	u.Mark(k, noon().Add(time.Minute), time.Minute)
	assert.Equal(t, noon().Add(time.Hour), ends(&u), "an earlier end changes nothing")
	u.Mark(k, noon().Add(time.Minute), time.Hour)
	assert.Equal(t, noon().Add(61*time.Minute), ends(&u))
	assert.Equal(t, 1, u.Len())

	var short Unavailable
	short.Mark(k, noon(), -time.Hour)
	assert.Equal(t, noon().Add(DefaultUnavailableTTL), ends(&short), "a negative time is no time given")
}

func TestUnavailablePrune(t *testing.T) {
	var u Unavailable
	for i, name := range []string{"a", "b", "c", "d"} {
		u.Mark(Key{InstanceType: name}, noon(), time.Duration(i+1)*time.Minute)
	}
	u.Prune(noon().Add(2 * time.Minute))
	assert.Equal(t, []Key{{InstanceType: "c"}, {InstanceType: "d"}}, u.Keys())
	assert.Equal(t, 2, u.Len())
	u.Prune(noon().Add(time.Hour))
	assert.Zero(t, u.Len())
	u.Mark(Key{InstanceType: "a"}, noon(), 0)
	assert.Equal(t, 1, u.Len(), "a pruned record takes new marks")
}

// A41, A42: a field that is left out stands for every value. The record agrees with a list of marks that is searched from end to end.
func TestUnavailableAgainstList(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 20))
	pick := func(options ...string) string { return options[random.IntN(len(options))] }
	type entry struct {
		Key
		until time.Time
	}
	covers := func(mark, value string) bool { return mark == "" || mark == value }
	for range 200 {
		var u Unavailable
		var list []entry
		now := noon()
		for range 40 {
			now = now.Add(time.Duration(random.IntN(120)) * time.Second)
			switch random.IntN(4) {
			case 0:
				k := Key{pick("", "m", "c"), pick("", "a", "b"), CapacityType(pick("", "spot", "reserved")), pick("", "", "cr-1")}
				ttl := time.Duration(1+random.IntN(300)) * time.Second
				u.Mark(k, now, ttl)
				list = append(list, entry{k, now.Add(ttl)})
			case 1:
				u.Prune(now)
			default:
				name, o := pick("m", "c"), Offering{Zone: pick("a", "b"), CapacityType: CapacityType(pick("spot", "reserved")), ReservationID: pick("", "cr-1")}
				want := false
				for _, e := range list {
					want = want || now.Before(e.until) && covers(e.InstanceType, name) && covers(e.Zone, o.Zone) &&
						covers(string(e.CapacityType), string(o.CapacityType)) && covers(e.ReservationID, o.ReservationID)
				}
				require.Equal(t, want, u.Has(key(name, o), now), "%s %+v at %v among %+v", name, o, now, list)
			}
		}
	}
}

func TestUnavailableJSON(t *testing.T) {
	var u Unavailable
	u.Mark(Key{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: Spot}, noon(), 0)
	u.Mark(Key{CapacityType: Reserved, ReservationID: "cr-1"}, noon().In(time.FixedZone("CET", 3600)), time.Hour)
	data, err := json.Marshal(&u)
	require.NoError(t, err)
	assert.Equal(t, `[{"capacityType":"reserved","reservationID":"cr-1","until":"2026-11-21T13:00:00Z"},`+
		`{"instanceType":"m7i.large","zone":"us-east-1a","capacityType":"spot","until":"2026-11-21T12:03:00Z"}]`, string(data))

	var back Unavailable
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, u.until, back.until)

	held, err := json.Marshal(struct{ U *Unavailable }{&u})
	require.NoError(t, err)
	assert.JSONEq(t, `{"U":`+string(data)+`}`, string(held), "a record that is held is written too")

	empty, err := json.Marshal(&Unavailable{})
	require.NoError(t, err)
	assert.Equal(t, `[]`, string(empty))
}

// A record made with the wall clock, monotonic reading included, survives JSON.
func TestUnavailableJSONWallClock(t *testing.T) {
	var u, back Unavailable
	u.Mark(Key{Zone: "a"}, time.Now(), time.Minute)
	data, err := json.Marshal(&u)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, u.until, back.until)
}

func TestUnavailableUnmarshal(t *testing.T) {
	var u Unavailable
	u.Mark(Key{Zone: "kept"}, noon(), 0)
	before := u.Keys()
	require.NoError(t, json.Unmarshal([]byte(`null`), &u))
	assert.Equal(t, before, u.Keys())

	for text, want := range map[string]string{
		`{}`:             "unavailable offerings: json:",
		`[{"until":1}]`:  "unavailable offerings:",
		`[{"zone":"a"}]`: "entry 0: until: must not be empty",
		`[{"until":"9999-12-31T23:59:59-23:59"}]`: "entry 0: until: 9999-12-31 23:59:59 -2359 -2359: want a year from 0 to 9999 in UTC",
		`[{"zone":"a","until":"2026-11-21T13:00:00Z"},{"capacityType":"on demand"}]`: "entry 1: capacityType: capacity type \"on demand\": want reserved, spot or on-demand; did you mean on-demand?\n" +
			"unavailable offerings: entry 1: until: must not be empty",
	} {
		require.ErrorContains(t, json.Unmarshal([]byte(text), &u), want, text)
		assert.Equal(t, before, u.Keys(), "%s must leave the record alone", text)
	}

	require.NoError(t, json.Unmarshal([]byte(
		`[{"zone":"a","until":"2026-11-21T13:00:00Z"},{"zone":"a","until":"2026-11-21T12:00:00Z"},{"zone":"b","until":"2026-11-21T12:00:00+01:00","note":"x"}]`), &u))
	assert.Equal(t, []Key{{Zone: "a"}, {Zone: "b"}}, u.Keys(), "what was read replaces what was there")
	assert.True(t, u.Has(key("m7i.large", Offering{Zone: "a"}), noon().Add(59*time.Minute)), "of two ends the later one holds")
}

func FuzzUnavailableJSON(f *testing.F) {
	f.Add([]byte(`[{"zone":"a","capacityType":"spot","until":"2026-11-21T13:00:00Z"}]`))
	f.Add([]byte(`[{"zone":"a","until":"2026-11-21T13:00:00+01:00"},{"zone":"a","until":"2027-11-21T13:00:00Z"}]`))
	f.Add([]byte(`[{"until":"9999-12-31T23:59:59-23:59"}]`))
	f.Add([]byte(`[{"until":"0000-01-01T00:00:00+23:59"}]`))
	f.Add([]byte(`null`))
	f.Add([]byte(`[null]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var u Unavailable
		if json.Unmarshal(data, &u) != nil {
			require.Zero(t, u.Len())
			return
		}
		written, err := json.Marshal(&u)
		require.NoError(t, err)
		var back Unavailable
		require.NoError(t, json.Unmarshal(written, &back))
		require.Equal(t, u.Keys(), back.Keys())
		again, err := json.Marshal(&back)
		require.NoError(t, err)
		require.Equal(t, string(written), string(again))
	})
}
