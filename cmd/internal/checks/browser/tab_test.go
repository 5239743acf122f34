package browser

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "directory that pictures of the page are written to")

// browserPatience bounds what a page may take on a busy machine.
const browserPatience = 4 * time.Minute

// findBrowser returns the path of a Chromium, or skips the test.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
		"headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium on this machine: the status page is not tested in a browser")
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findBrowser(t)),
		chromedp.UserDataDir(t.TempDir()))
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

// listen collects what a developer console shows in red or yellow: uncaught errors, refused
// content, warnings.
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
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(100*time.Millisecond),
		chromedp.WithPollingTimeout(0)))
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
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
		Value: scheme}}}
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
	ask(b,
		chromedp.Evaluate[bool]("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
			chromedp.EvalAwaitPromise))
	png := ask(b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// fits fails the test if the page is wider than its window.
func (b *browser) fits(what string) {
	b.t.Helper()
	if over := eval[float64](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		wide := eval[string](
			b,
			`[...document.querySelectorAll('body *')].filter(n => n.getBoundingClientRect().right > innerWidth + 1)
			.slice(0, 5).map(n => n.tagName + '.' + n.className + '#' + n.id).join(', ')`,
		)
		b.t.Errorf("%s: %v pixels wider than the window: %s", what, over, wide)
	}
	if cut := eval[string](b, clipped); cut != "" {
		b.t.Errorf("%s: clipped, or out of their panels: %s", what, cut)
	}
}

// clipped names elements that are wider than their container. Charts adapt to their container a
// moment later.
const clipped = `[...document.querySelectorAll('body *')].filter(n => {
	const box = n.getBoundingClientRect(), panel = n.closest('.panel')?.getBoundingClientRect();
	if (box.width === 0 || box.height === 0 || n.closest('.chart')) return false;
	if (panel && box.right > panel.right + 1) return true;
	return getComputedStyle(n).display !== 'inline' && n.clientWidth > 0 && n.scrollWidth > n.clientWidth + 1;
}).slice(0, 5).map(n => n.tagName + '.' + n.className + '#' + n.id).join(', ')`
