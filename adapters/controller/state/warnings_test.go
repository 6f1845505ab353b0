package state

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func TestWarningLog(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	wrong := scheduling.Warning{Object: "shop/web-1", Message: "is left out"}
	note := scheduling.Warning{Object: "NodePool/general", Message: "is taken to have Linux", Note: true}
	var l WarningLog
	for _, x := range []struct {
		warnings []scheduling.Warning
		want     string
	}{
		{[]scheduling.Warning{wrong, note, wrong}, "level=WARN msg=\"is left out\" object=shop/web-1\nlevel=DEBUG msg=\"is taken to have Linux\" object=NodePool/general\n"},
		{[]scheduling.Warning{wrong, note}, ""},
		{[]scheduling.Warning{note}, ""},
		{[]scheduling.Warning{wrong, note}, "level=WARN msg=\"is left out\" object=shop/web-1\n"},
	} {
		text.Reset()
		l.Log(t.Context(), log, x.warnings)
		require.Equal(t, x.want, text.String())
	}
}
