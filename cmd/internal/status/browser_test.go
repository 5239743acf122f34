package status

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/eerf-stream/eerf/cmd/internal/messy"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

var screenshots = flag.String("screenshots", "", "directory that pictures of the page are written to")

// browserPatience bounds what a page may take on a busy machine.
const browserPatience = 4 * time.Minute

// findBrowser returns the path of a Chromium, or skips the test.
func findBrowser(t *testing.T) string {
	t.Helper()
	if underRace {
		t.Skip("not under the race detector")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium on this machine: the status page is not looked at in a browser")
	return ""
}

// browser is a tab and the errors in it.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findBrowser(t)), chromedp.UserDataDir(t.TempDir()))
	if os.Geteuid() == 0 { // its sandbox does not run as root
		options = append(options, chromedp.NoSandbox)
	}
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endTab := chromedp.NewContext(allocator)
	b := &browser{t: t, ctx: ctx}
	listening, endListening := context.WithCancel(ctx)
	listened := make(chan struct{})
	t.Cleanup(func() {
		endListening()
		<-listened
		if err := chromedp.Cancel(ctx); err != nil && !errors.Is(err, context.Canceled) { // closes it and waits
			t.Log(err)
		}
		endTab()
		endAllocator()
	})
	messages := chromedp.Console(listening)
	go func() {
		defer close(listened)
		for message, err := range messages {
			if err != nil {
				return
			}
			b.listen(message)
		}
	}()
	return b
}

// listen collects what a developer console shows in red or yellow: uncaught errors, refused content,
// warnings.
func (b *browser) listen(m chromedp.ConsoleMessage) {
	switch m.Type {
	case chromedp.ConsoleError, chromedp.ConsoleException, chromedp.ConsoleWarning:
		b.mu.Lock()
		defer b.mu.Unlock()
		b.errors = append(b.errors, m.String()+" "+m.URL)
	}
}

// takeErrors returns the errors since the last call.
func (b *browser) takeErrors() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	errors := b.errors
	b.errors = nil
	return errors
}

// clean fails the test if there were errors in the page.
func (b *browser) clean(when string) {
	b.t.Helper()
	for _, text := range b.takeErrors() {
		b.t.Errorf("%s: the console says: %s", when, text)
	}
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browserPatience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// ask returns the result of an action.
func ask[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browserPatience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// eval returns the value of an expression in the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[T](expression))
}

// await waits until an expression is true in the page, drawn or not.
func (b *browser) await(what, expression string) {
	b.t.Helper()
	expression = "(() => { try { return Boolean(" + expression + "\n) } catch { return false } })()"
	ctx, cancel := context.WithTimeout(b.ctx, browserPatience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(0)))
	if err != nil {
		b.t.Fatalf("%s: %v; the page says:\n%s\n%q", what, err, eval[string](b, "document.body.innerText"), b.takeErrors())
	}
}

// device sets the size of the window and the theme of the system.
func (b *browser) device(width, height int64, phone bool, scheme string) {
	b.t.Helper()
	metrics := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: phone}
	if phone {
		metrics.DeviceScaleFactor = 2
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, metrics); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
		return err
	}))
}

// picture saves a picture of the whole page, if pictures are requested.
func (b *browser) picture(name string) {
	b.t.Helper()
	if *screenshots == "" {
		return
	}
	// Two frames, so that the latest change is drawn.
	ask(b, chromedp.Evaluate[bool]("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))", chromedp.EvalAwaitPromise))
	png := ask(b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// fits fails the test if the page is wider than its window.
func (b *browser) fits(what string) {
	b.t.Helper()
	if over := eval[float64](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		wide := eval[string](b, `[...document.querySelectorAll('body *')].filter(n => n.getBoundingClientRect().right > innerWidth + 1)
			.slice(0, 5).map(n => n.tagName + '.' + n.className + '#' + n.id).join(', ')`)
		b.t.Errorf("%s: %v pixels wider than the window: %s", what, over, wide)
	}
	if cut := eval[string](b, clipped); cut != "" {
		b.t.Errorf("%s: clipped, or out of their panels: %s", what, cut)
	}
}

// clipped names what is wider than its container. Charts adapt to their container a moment later.
const clipped = `[...document.querySelectorAll('body *')].filter(n => {
	const box = n.getBoundingClientRect(), panel = n.closest('.panel')?.getBoundingClientRect();
	if (box.width === 0 || box.height === 0 || n.closest('.chart')) return false;
	return panel && box.right > panel.right + 1 || getComputedStyle(n).display !== 'inline' && n.clientWidth > 0 && n.scrollWidth > n.clientWidth + 1;
}).slice(0, 5).map(n => n.tagName + '.' + n.className + '#' + n.id).join(', ')`

// number reads a figure from the text of the page.
const number = `(id => Number((document.querySelector(id)?.textContent ?? '').replace(/[^0-9.]/g, '')))`

func TestPageInABrowser(t *testing.T) {
	b := openBrowser(t)
	s := newSite(t, siteOptions{})
	b.device(1440, 900, false, "light")
	b.run(chromedp.Navigate(s.url + "/"))

	b.await("live", "document.getElementById('live').textContent === 'live'")
	b.await("the topics are known", "document.querySelector('#topic-events .figure').textContent === '0'")
	for id, want := range map[string]string{
		"exploration-idle": "There has been no exploration yet", "verdict": "Getting started", "sets": "no feature set yet", "letters": "No dead letters", "models-chart": "no model yet",
	} {
		if have := eval[string](b, fmt.Sprintf("document.getElementById(%q).innerText", id)); !strings.Contains(have, want) {
			t.Errorf("an empty pipeline: #%s says %q, want %q", id, have, want)
		}
	}
	b.picture("empty")
	b.clean("an empty pipeline")

	s.produce(640)
	b.await("rows are missing", "document.getElementById('exploration-missing').textContent === '640 of 2,000 labelled rows: 1,360 missing for a plan'")
	load(t, s)
	s.poison("<b>x</b>")
	b.await("the first set", "document.getElementById('sets').innerText.includes('in use')")
	b.await("an error of a model", `/error$/.test(document.getElementById('fact-train').textContent)`)
	b.await("the dead letter", "document.getElementById('letters').innerText.includes('not_arrow')")
	b.await("rows are featurized", number+"('#rate-featurize') > 0")
	before := eval[float64](b, number+"('#topic-features .figure')")
	b.await("numbers move", fmt.Sprintf("%s('#topic-features .figure') > %v", number, before))
	b.clean("under load")
	b.looksAtLetters()

	b.startExploration()
	for _, scheme := range []string{"light", "dark"} {
		b.device(1440, 900, false, scheme)
		b.fits("desktop")
		b.picture("desktop-" + scheme)
		b.device(1280, 900, false, scheme)
		b.fits("small desktop")
		b.device(375, 812, true, scheme)
		b.fits("phone")
		b.picture("phone-" + scheme)
	}
	b.device(768, 1024, false, "light")
	b.fits("tablet")
	b.picture("tablet")
	b.themes()
	b.clean("on devices")
}

// looksAtLetters checks that new dead letters stay marked until somebody marks them as seen.
func (b *browser) looksAtLetters() {
	b.t.Helper()
	const fresh = "!document.getElementById('letters-new').hidden"
	if !eval[bool](b, "document.getElementById('letters').innerText.includes('<b>') && !document.querySelector('#letters b')") {
		b.t.Error("the bytes of a message are not shown as text")
	}
	b.await("the badge", fresh+" && document.getElementById('tile-letters').textContent.endsWith(' new') && document.getElementById('banners').innerText.includes('new dead letter')")
	b.run(chromedp.Reload())
	b.await("the badge is still there", fresh)
	b.run(chromedp.Click(chromedp.ID("letters-seen")))
	b.await("the badge has gone", "document.getElementById('letters-new').hidden && !document.getElementById('banners').innerText.includes('dead letter')")
	b.run(chromedp.Reload())
	b.await("it stays so", "document.getElementById('letters').innerText.includes('not_arrow') && document.getElementById('letters-new').hidden")
}

// startExploration starts an exploration from the page, with a wrong token first, and waits for its set.
func (b *browser) startExploration() {
	b.t.Helper()
	b.await("nothing runs", "!document.getElementById('start').disabled")
	send := func(token string) {
		b.run(chromedp.SetValue(chromedp.ID("start-token"), token), chromedp.Click(chromedp.ID("start-send")))
	}
	b.run(chromedp.Click(chromedp.ID("start")), chromedp.WaitVisible(chromedp.ID("start-token")),
		chromedp.SendKeys(chromedp.ID("start-reason"), "from a browser"))
	send("a wrong one, long enough")
	b.await("the wrong token is refused", "document.getElementById('start-error').textContent.includes('missing or wrong')")
	b.picture("dialog")
	var errors []string
	stagestest.Until(b.t, "the console says so", func() bool { // it arrives separately, a moment later
		errors = append(errors, b.takeErrors()...)
		return len(errors) > 0
	})
	if len(errors) != 1 || !strings.Contains(errors[0], "401") {
		b.t.Errorf("the console says of a wrong token: %q", errors)
	}
	send(token)
	b.await("the dialog closes", "!document.getElementById('start-dialog').open")
	b.await("the exploration runs", "document.getElementById('exploration-id').textContent.includes('.2.')")
	b.await("rows are scored", `document.getElementById('exploration-status').textContent === 'published' || // it was quick
		/^[1-9]/.test(document.getElementById('exploration-rows').textContent) && document.getElementById('spectrum-note').textContent !== ''`)
	b.picture("running")
	b.await("it is done", "document.getElementById('exploration-status').textContent === 'published'")
	for id, want := range map[string]string{"exploration-ranges": "the newest rows: ", "exploration-reason": "from a browser"} {
		if have := eval[string](b, fmt.Sprintf("document.getElementById(%q).innerText", id)); !strings.Contains(have, want) {
			b.t.Errorf("#%s says %q, want %q", id, have, want)
		}
	}
	b.await("its set is in use", "document.getElementById('sets').innerText.includes('#2 ')")
	b.clean("an exploration from the page")
}

// themes switches the theme by hand, against the system's, and back.
func (b *browser) themes() {
	b.t.Helper()
	const ground = "getComputedStyle(document.body).backgroundColor"
	light := eval[string](b, ground)
	b.run(chromedp.Click(chromedp.ID("theme")))
	b.picture("dark-by-hand")
	if dark := eval[string](b, ground); dark == light {
		b.t.Errorf("the button does not change the theme: %s", dark)
	}
	b.run(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#flow .stage")))
	if again := eval[string](b, ground); again == light {
		b.t.Error("the chosen theme does not outlive the page")
	}
	b.run(chromedp.Click(chromedp.ID("theme")))
	if again := eval[string](b, ground); again != light {
		b.t.Errorf("back to %s, was %s", again, light)
	}
}

// load writes events until the end of the test.
func load(t *testing.T, s *site) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := s.tryProduce(ctx, 640); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
}

// Learned features have a curve of losses and the columns by importance.
func TestPageOfLearnedFeaturesInABrowser(t *testing.T) {
	b := openBrowser(t)
	s := newSite(t, siteOptions{configure: func(c *config.Config) { c.Stages.Exploration.Criterion = scoring.Adaptive }})
	b.device(1440, 900, false, "light")
	b.run(chromedp.Navigate(s.url + "/"))
	b.await("live", "document.getElementById('live').textContent === 'live'")
	if !eval[bool](b, "document.getElementById('learning').hidden") {
		t.Error("learning is shown where nothing is learned")
	}
	s.produce(8000)
	b.await("a winner", "document.getElementById('learning-best').textContent.endsWith(' won')")
	b.await("columns", "document.querySelectorAll('#importance li').length > 1")
	b.await("the curve", "document.querySelectorAll('#learning-chart canvas').length === 1 && document.getElementById('learning-chart').offsetHeight > 100")
	if note := eval[string](b, "document.getElementById('learning-note').textContent"); !strings.Contains(note, "judged on") || !strings.Contains(note, "not an estimate") {
		t.Errorf("the note says %q", note)
	}
	if note := eval[string](b, "document.getElementById('spectrum-note').textContent"); strings.Contains(note, "noise") {
		t.Errorf("of learned features the page says %q", note)
	}
	for _, scheme := range []string{"light", "dark"} {
		b.device(1440, 900, false, scheme)
		b.fits("desktop")
		b.picture("learned-desktop-" + scheme)
		b.device(375, 812, true, scheme)
		b.fits("phone")
		b.picture("learned-phone-" + scheme)
	}
	b.clean("learned features")
}

// The columns of the set in use are in a table that can be opened.
func TestPageOfColumnsInABrowser(t *testing.T) {
	b := openBrowser(t)
	s := newSite(t, siteOptions{configure: func(c *config.Config) {
		c.Stages.Events.Label, c.Stages.Events.Exclude = []string{messy.Segment}, []string{messy.Churned}
		c.Stages.Exploration.Criterion = scoring.Correlation
		c.Stages.Topics.Partitions = 16
	}})
	b.device(1280, 900, false, "light")
	b.run(chromedp.Navigate(s.url + "/"))
	b.await("live", "document.getElementById('live').textContent === 'live'")
	if !eval[bool](b, "document.getElementById('columns').hidden") {
		t.Error("columns are shown before there is a set")
	}
	s.produceMessy(4000)
	b.await("the sum", "document.getElementById('columns-sum').textContent === '11 of 13 columns are features; left out: f0, Customer ID.'")
	b.run(chromedp.Click(chromedp.ID("columns-summary")))
	b.await("the table", "document.querySelectorAll('#columns tbody tr').length === 15 && document.querySelector('#columns table').offsetHeight > 100")
	if text := eval[string](b, "document.querySelector('#columns tbody').innerText"); !strings.Contains(text, "looks like an identifier") || !strings.Contains(text, "timestamp") {
		t.Errorf("the table says %q", text)
	}
	b.strip(16)
	for _, scheme := range []string{"light", "dark"} {
		b.device(1280, 900, false, scheme)
		b.fits("desktop")
		b.picture("columns-desktop-" + scheme)
		b.device(375, 812, true, scheme)
		b.fits("phone")
		b.picture("columns-phone-" + scheme)
	}
	b.clean("columns")
}

// strip moves through the strip of partitions by keyboard, and pins one of them in the table.
func (b *browser) strip(partitions int) {
	b.t.Helper()
	b.await("the strip", fmt.Sprintf("document.querySelectorAll('.heat')[0].children.length === %d && document.querySelectorAll('#partitions tbody tr').length === 12", partitions))
	if stops := eval[int](b, "document.querySelectorAll('.heat')[0].querySelectorAll('[tabindex=\"0\"]').length"); stops != 1 {
		b.t.Errorf("%d stops of the tab key", stops)
	}
	press := func(key string) {
		eval[bool](b, fmt.Sprintf("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '%s', bubbles: true }))", key))
	}
	eval[bool](b, "document.querySelector('.heat button').focus() === undefined")
	press("End")
	press("ArrowLeft")
	b.await("the partition before the last", fmt.Sprintf("document.querySelector('.heats .about').textContent.startsWith('Partition %d: ')", partitions-2))
	eval[bool](b, "document.activeElement.click() === undefined")
	b.await("it is in the table", fmt.Sprintf("document.querySelector('#partitions tbody tr').cells[0].textContent === '%d'", partitions-2))
}

func TestPageWithoutABroker(t *testing.T) {
	b := openBrowser(t)
	s := newSite(t, siteOptions{configure: func(c *config.Config) { c.Status.Token = "" }})
	s.produce(8000)
	b.device(1440, 900, false, "light")
	b.run(chromedp.Navigate(s.url + "/status/"))
	b.await("a set", "document.getElementById('sets').innerText.includes('in use')")
	if title := eval[string](b, "document.getElementById('start').disabled && document.getElementById('start').title"); !strings.Contains(title, "no token is configured") {
		t.Errorf("without a token the button says %q", title)
	}
	s.broker.Stop()
	b.await("the banner", "document.getElementById('banners').innerText.includes('The broker does not answer')")
	b.picture("broker-away")
	b.device(375, 812, true, "dark")
	b.fits("phone with a banner")
	b.picture("broker-away-phone")
	b.clean("without a broker")
}
