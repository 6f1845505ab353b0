package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

var (
	update   = flag.Bool("update", false, "write the pictures of the README anew")
	pictures = flag.String("pictures", "", "write pictures of the whole page into this `folder`")
)

// chromium is the path of a browser; without one the test is skipped.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium here: the report is not opened. Debian has it as package chromium")
	return ""
}

// made is the report of the example cluster: the page, and the same as JSON.
type made struct {
	page string
	report
}

// report is the part of the report's JSON that tests compare with the page.
type report struct {
	Levels []struct {
		Code          string
		CentsPerMonth int64
	}
	Points []struct{ CentsPerMonth, Nodes, PodsMoved, Launches int64 }
	Usage  struct {
		IdleCentsPerMonth, NodesExcluded int64
		SpotShare                        float64
	}
	Cordon []string
	Steps  []struct{ Drain []string }
	Costs  struct {
		Overhead                   []row
		Breakdowns, NodeBreakdowns []breakdown
	}
}

type breakdown struct {
	By   string
	Rows []row
}

type row struct {
	Name         string
	Today, After int64
}

// example runs the command on the example cluster.
var example = sync.OnceValues(func() (*made, error) {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		return nil, err
	}
	m := &made{page: filepath.Join(dir, "report.html")}
	text := filepath.Join(dir, "report.json")
	for _, output := range []string{m.page, text} {
		command := exec.Command("go", "run", "./cmd/plimsoll", "report", "-f", "examples/consolidate", "--now", "2026-11-25T09:00:00Z", "--title", "Example cluster", "-o", output)
		command.Dir = filepath.Join("..", "..")
		if out, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	data, err := os.ReadFile(text)
	if err != nil {
		return nil, err
	}
	return m, json.Unmarshal(data, &m.report)
})

// screen is how somebody looks at the page.
type screen struct {
	width, height int64
	scheme        string
	noScript      bool
}

// open opens the page in a browser of its own, and fails the test where the browser complains.
func open(t *testing.T, s screen) (context.Context, *made) {
	t.Helper()
	path := chromium(t)
	m, err := example()
	require.NoError(t, err)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true))
	allocated, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page throws: %v", e.ExceptionDetails)
		case *runtime.EventConsoleAPICalled:
			t.Errorf("the page writes to the console: %v", e.Type)
		case *log.EventEntryAdded:
			t.Errorf("the browser complains: %s", e.Entry.Text)
		}
	}))
	call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.width < 500})
	call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}}})
	call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: s.noScript})
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("file://"+m.page)))
	return ctx, m
}

// call gives the browser a command.
func call[P any](ctx context.Context, t *testing.T, command cdp.Command[P, cdp.Empty], params P) {
	t.Helper()
	_, err := chromedp.Call(ctx, command, params)
	require.NoError(t, err)
}

// ask evaluates an expression in the page.
func ask[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	answer, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err)
	return answer
}

// screens returns the screens on which the page is opened.
func screens() []screen {
	var out []screen
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			out = append(out, screen{width: width, height: 900, scheme: scheme})
		}
	}
	return out
}

func TestNothingOverflows(t *testing.T) {
	for _, s := range screens() {
		t.Run(fmt.Sprintf("%d %s", s.width, s.scheme), func(t *testing.T) {
			ctx, _ := open(t, s)
			ask[bool](ctx, t, "document.querySelectorAll('details').forEach(e => { e.open = true; }); true")
			if s.width == 390 { // names of objects and fields of any length break
				ask[bool](ctx, t, "document.querySelectorAll('.cards td[data-head]').forEach(e => { e.append(' ' + 'spec.disruption.consolidation'.repeat(3)); }); true")
			}
			// No element reaches over the edge of the page but those that scroll by themselves or are for screen
			// readers.
			require.Empty(t, ask[[]string](ctx, t, `[...document.body.querySelectorAll('*')].filter(e => {
				const r = e.getBoundingClientRect();
				return r.width > 0 && (r.right > `+fmt.Sprint(s.width+1)+` || r.left < -1) && !e.closest('.scroll') && !e.closest('.hide');
			}).map(e => e.outerHTML.slice(0, 120))`))
			require.Equal(t, s.width, ask[int64](ctx, t, "document.documentElement.scrollWidth"))
			// No text is cut off or lies over other text of its line.
			require.Empty(t, ask[[]string](ctx, t, `[...document.querySelectorAll('th,td,figcaption,li,dd,p,h1,h2')].filter(e =>
				e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).display !== 'inline' && !e.closest('.hide') && !e.closest('.scroll')).map(e => e.outerHTML.slice(0, 120))`))
			dark := ask[string](ctx, t, "getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
			require.Equal(t, s.scheme == "dark", dark)
		})
	}
}

// Printed on A4, the page keeps every column and opens what is folded, and the colours of a node's parts differ without hue.
func TestPrint(t *testing.T) {
	const a4 = 688 // CSS pixels between margins of 14 mm
	ctx, _ := open(t, screen{width: a4, height: 900, scheme: "light"})
	call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	require.Empty(t, ask[[]string](ctx, t, `[...document.querySelectorAll('th,td,pre')].filter(e => {
		const r = e.getBoundingClientRect();
		return !e.closest('.hide') && !e.closest('[hidden]') && (r.width === 0 || r.left < -1 || r.right > innerWidth + 1);
	}).map(e => e.outerHTML.slice(0, 120))`))
	require.True(t, ask[bool](ctx, t, "document.getElementById('runbook').checkVisibility({contentVisibilityAuto: true})"))
	grey := ask[[]float64](ctx, t, `[1,2,3,4,5,6,7,8].map(n => {
		const e = document.createElement('i');
		e.className = 'c' + n;
		e.style.color = 'var(--c)';
		document.body.append(e);
		const [r, g, b] = getComputedStyle(e).color.match(/\d+/g).map(v => Math.pow(v / 255, 2.2));
		return 116 * Math.cbrt(.2126 * r + .7152 * g + .0722 * b) - 16; // CIE L*
	})`)
	for i := 1; i < len(grey); i++ {
		require.Greater(t, math.Abs(grey[i]-grey[i-1]), 10.0, "parts %d and %d, which lie on each other", i, i+1)
	}
}

// The page has the figures of the JSON, and columns add up to their totals.
func TestFiguresAreThoseOfTheJSON(t *testing.T) {
	ctx, m := open(t, screens()[0])
	for _, l := range m.Levels {
		require.Equal(t, dollars(l.CentsPerMonth), ask[string](ctx, t, fmt.Sprintf("document.getElementById('level-%s').textContent", l.Code)))
	}
	type table struct {
		By   string
		Rows [][]string
	}
	tables := ask[[]table](ctx, t, `[...document.querySelectorAll('.account')].map(t => ({By: t.dataset.by,
		Rows: [...t.querySelectorAll('tbody tr, tfoot tr')].map(r => [...r.children].map(c => c.textContent.trim()))}))`)
	breakdowns := append(append([]breakdown{}, m.Costs.NodeBreakdowns...), m.Costs.Breakdowns...)
	require.Len(t, tables, len(breakdowns))
	for i, b := range breakdowns {
		require.Equal(t, b.By, tables[i].By)
		rows := append([]row{}, b.Rows...)
		if i >= len(m.Costs.NodeBreakdowns) {
			rows = append(rows, m.Costs.Overhead...)
		}
		require.Len(t, tables[i].Rows, len(rows)+1)
		sum := row{Name: "Bill"}
		for k, r := range rows {
			require.Equal(t, []string{r.Name, exact(r.Today), exact(r.After)}, tables[i].Rows[k])
			sum.Today += r.Today
			sum.After += r.After
		}
		require.Equal(t, m.Levels[0].CentsPerMonth, sum.Today)
		require.Equal(t, m.Levels[1].CentsPerMonth, sum.After)
		require.Equal(t, []string{"Bill", exact(sum.Today), exact(sum.After)}, tables[i].Rows[len(rows)])
	}
	figure := func(name string) string {
		return ask[string](ctx, t, fmt.Sprintf("document.querySelector('[data-figure=%s]').textContent", name))
	}
	require.Equal(t, dollars(m.Usage.IdleCentsPerMonth), figure("idle"))
	require.Equal(t, fmt.Sprint(m.Usage.NodesExcluded), figure("excluded"))
	require.Equal(t, fmt.Sprintf("%.1f%%", 100*m.Usage.SpotShare), figure("spot"))
	saved := m.Levels[0].CentsPerMonth - m.Levels[1].CentsPerMonth
	if m.Levels[2].Code == "expected" {
		saved = m.Levels[0].CentsPerMonth - m.Levels[2].CentsPerMonth
	}
	lede := ask[string](ctx, t, "document.querySelector('.lede').textContent")
	require.Contains(t, lede, dollars(saved)+" a month ("+dollars(12*saved)+" a year)")
	runbook := ask[string](ctx, t, "document.getElementById('runbook').textContent")
	require.Contains(t, runbook, "existing kubectl cordon -- "+strings.Join(m.Cordon, " ")+"\n")
	for _, s := range m.Steps {
		require.Contains(t, runbook, "\nexisting drain -- "+strings.Join(s.Drain, " ")+"\nexisting kubectl delete node -- "+strings.Join(s.Drain, " ")+"\n")
	}
}

// Colours of the nodes' parts differ from the background by 3:1 at least, and all text by 4.5:1.
func TestContrast(t *testing.T) {
	for _, scheme := range []string{"light", "dark"} {
		ctx, _ := open(t, screen{width: 1280, height: 900, scheme: scheme})
		const contrast = `(() => {
			const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
			const ground = getComputedStyle(document.body).backgroundColor;
			const ratio = c => { const [a, b] = [light(c), light(ground)].sort((x, y) => x - y); return (b + .05) / (a + .05); };
			const low = [];
			document.querySelectorAll('.legend i, .bar i, .levels i').forEach(e => { const s = getComputedStyle(e), c = s.backgroundColor.startsWith('rgba') ? s.borderColor : s.backgroundColor; if (!e.classList.contains('c9') && ratio(c) < 3) low.push(e.outerHTML + c); });
			if (ratio(getComputedStyle(document.querySelector('.stripe')).fill) < 3) low.push('stripe');
			document.querySelectorAll('p, td, th, dd, dt, li, small, summary').forEach(e => { if (ratio(getComputedStyle(e).color) < 4.5) low.push(e.outerHTML.slice(0, 80)); });
			return low;
		})()`
		require.Empty(t, ask[[]string](ctx, t, contrast), scheme)
	}
}

// On a narrow screen every cell of every table is shown.
func TestNoColumnFallsOff(t *testing.T) {
	ctx, _ := open(t, screen{width: 390, height: 900, scheme: "light"})
	require.Empty(t, ask[[]string](ctx, t, `(document.querySelectorAll('details').forEach(e => { e.open = true; }), [...document.querySelectorAll('tbody td')].filter(e =>
		e.textContent.trim() && e.getBoundingClientRect().width < 8 && ![...e.children].every(c => c.hidden)).map(e => e.outerHTML.slice(0, 120)))`))
}

// The slider goes through the steps, by keyboard as well.
func TestSlider(t *testing.T) {
	ctx, m := open(t, screens()[0])
	last := len(m.Points) - 1
	shown := func() []string {
		return ask[[]string](ctx, t, `['cents', 'nodes', 'moved', 'launches'].map(w => document.querySelector('[data-is="' + w + '"]').textContent)`)
	}
	require.NoError(t, chromedp.Do(ctx, chromedp.Focus(chromedp.ID("slider"))))
	for k := last; k >= 0; k-- {
		p := m.Points[k]
		require.Equal(t, []string{dollars(p.CentsPerMonth), fmt.Sprint(p.Nodes), fmt.Sprint(p.PodsMoved), fmt.Sprint(p.Launches)}, shown())
		// As many machines have a bar as there are nodes.
		require.Equal(t, p.Nodes, ask[int64](ctx, t, `document.querySelectorAll('.fleet .after .bar:not([hidden])').length`))
		require.NoError(t, chromedp.Do(ctx, chromedp.KeyEvent(kb.ArrowLeft)))
	}
	require.Equal(t, "0", ask[string](ctx, t, "document.getElementById('slider').value"))
}

// Without script the page shows the totals of all steps.
func TestWithoutScript(t *testing.T) {
	ctx, m := open(t, screen{width: 1280, height: 900, scheme: "light", noScript: true})
	require.True(t, ask[bool](ctx, t, "document.getElementById('slider').hidden"))
	require.Equal(t, m.Points[len(m.Points)-1].Nodes, ask[int64](ctx, t, `document.querySelectorAll('.fleet .after .bar:not([hidden])').length`))
}

// TestPictures writes the pictures of the README, and a picture of the whole page.
func TestPictures(t *testing.T) {
	if *update {
		for scheme, name := range map[string]string{"light": "report.png", "dark": "report-dark.png"} {
			ctx, _ := open(t, screen{width: 1000, height: 1090, scheme: scheme})
			take(ctx, t, chromedp.CaptureScreenshot(), filepath.Join("..", "..", "docs", name))
		}
	}
	if *pictures != "" {
		for _, s := range screens() {
			ctx, _ := open(t, s)
			ask[bool](ctx, t, "document.querySelectorAll('details').forEach(e => { e.open = true; }); true")
			take(ctx, t, chromedp.FullScreenshot(100), filepath.Join(*pictures, fmt.Sprintf("%d-%s.png", s.width, s.scheme)))
		}
	}
}

// take takes a picture.
func take(ctx context.Context, t *testing.T, how chromedp.Action[[]byte], file string) {
	t.Helper()
	picture, err := chromedp.Run(ctx, how)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, picture, 0o644))
}

// dollars and exact write cents as the page does.
func dollars(cents int64) string {
	if cents < 100_00 {
		return exact(cents)
	}
	return strings.TrimSuffix(exact((cents+50)/100*100), ".00")
}

func exact(cents int64) string {
	whole := fmt.Sprint(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return fmt.Sprintf("$%s.%02d", whole, cents%100)
}
