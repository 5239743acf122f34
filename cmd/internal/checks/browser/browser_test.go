package browser

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/eerf-stream/eerf/internal/messy"
)

// number is the start of a JavaScript expression that reads a figure from the text of the page.
const number = `(id => Number((document.querySelector(id)?.textContent ?? '').replace(/[^0-9.]/g, '')))`

func TestPageInBrowser(t *testing.T) {
	b := openBrowser(t)
	s := newSite(t)
	b.device(1440, 900, false, "light")
	b.run(chromedp.Navigate(s.url + "/"))

	b.await("live", "document.getElementById('live').textContent === 'live'")
	b.await("the topics were read", "document.querySelector('#topic-events .figure').textContent === '0'")
	for id, want := range map[string]string{
		"exploration-idle": "No exploration yet",
		"verdict":          "Getting started",
		"sets":             "No feature set yet",
		"letters":          "No dead letters",
		"models-chart":     "No model yet",
	} {
		if have := eval[string](b, fmt.Sprintf("document.getElementById(%q).innerText", id)); !strings.Contains(have, want) {
			t.Errorf("an empty pipeline: #%s says %q, want %q", id, have, want)
		}
	}
	b.picture("empty")
	b.clean("an empty pipeline")

	s.produce(640)
	b.await("rows are missing",
		"document.getElementById('exploration-missing').textContent === '640 of 2,000 labelled rows: 1,360 missing for a "+
			"plan'")
	s.keepProducing()
	s.poison("<b>x</b>")
	b.await("the first set", "document.getElementById('sets').innerText.includes('current')")
	b.await("an error of a model", `/error$/.test(document.getElementById('fact-train').textContent)`)
	b.await("the dead letter", "document.getElementById('letters').innerText.includes('unknown_format')")
	b.await("rows are featurized", number+"('#rate-featurize') > 0")
	b.await("live errors are as promised",
		"document.getElementById('live-state').textContent === 'as promised' && "+
			"document.getElementById('live-text').textContent.includes('labelled rows')")
	before := eval[float64](b, number+"('#topic-features .figure')")
	b.await("numbers move", fmt.Sprintf("%s('#topic-features .figure') > %v", number, before))
	b.clean("under load")
	b.looksAtLetters()

	b.awaitsExploration(s)
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
	b.seesTheFlip(s)
}

// seesTheFlip inverts the relation of the columns to the label.
func (b *browser) seesTheFlip(s *site) {
	b.t.Helper()
	eval[bool](b, "document.getElementById('letters-seen').click() === undefined") // one of subsample may have come late
	b.await("all is well", "document.getElementById('verdict').textContent === 'All is well'")
	turned := time.Now()
	s.flipped.Store(true)
	eval[bool](b, `(() => {
		const error = () => parseFloat(document.getElementById('tile-live').textContent);
		window.before = error();
		new MutationObserver(() => {
			const kind = document.getElementById('summary').className;
			if (kind.includes('bad')) window.red = true;
			if (window.red && kind.includes('good')) window.green ??= error();
		}).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
		const look = async () => { // at once, because it may soon be over
			window.since = (await (await fetch('/api/status')).json()).live.wrong_since;
			if (!window.since) setTimeout(look, 200);
		};
		look();
		return true;
	})()`)
	b.await("predictions are wrong",
		"document.getElementById('verdict').textContent === 'Predictions are wrong' && "+
			"document.getElementById('banners').innerText.includes('; promised: ')")
	b.await("the start of the deviation is known", "window.since")
	since := eval[string](b, "window.since")
	// by the time of the rows
	if at, err := time.Parse(time.RFC3339, since); err != nil || at.Sub(turned) > 10*time.Second {
		b.t.Errorf("wrong since %q, but the relation changed at %v: %v", since, turned, err)
	}
	b.picture("flipped")
	b.clean("wrong predictions")
	b.await("the model has adapted",
		"document.getElementById('live-state').textContent === 'as promised' && window.green !== undefined")
	if before, green := eval[float64](b, "window.before"), eval[float64](b, "window.green"); green > 2*before {
		b.t.Errorf("the page was green again at a live error of %v %%, it was %v %% before", green, before)
	}
}

// looksAtLetters checks that new dead letters stay marked until somebody marks them as seen.
func (b *browser) looksAtLetters() {
	b.t.Helper()
	const fresh = "!document.getElementById('letters-new').hidden"
	if !eval[bool](b,
		"document.getElementById('letters').innerText.includes('<b>') && !document.querySelector('#letters b')") {
		b.t.Error("the bytes of a message are not shown as text")
	}
	b.await("the badge",
		fresh+" && document.getElementById('tile-letters').textContent.endsWith(' new') && "+
			"document.getElementById('banners').innerText.includes('new dead letter')")
	b.run(chromedp.Reload())
	b.await("the badge is still there", fresh)
	eval[bool](b, "document.querySelector('#letters-title button').click() === undefined")
	b.await("the section is folded",
		"document.getElementById('letters').offsetHeight === 0 && document.getElementById('letters-new').offsetHeight > 0")
	eval[bool](b, "document.querySelector('#banners a[href=\"#letters-title\"]').click() === undefined")
	b.await("a link unfolds it", "document.getElementById('letters').offsetHeight > 0")
	b.run(chromedp.Click(chromedp.ID("letters-seen")))
	b.await("the badge has gone",
		"document.getElementById('letters-new').hidden && !document.getElementById('banners').innerText.includes('dead "+
			"letter')")
	b.run(chromedp.Reload())
	b.await("it stays so",
		"document.getElementById('letters').innerText.includes('unknown_format') && "+
			"document.getElementById('letters-new').hidden")
}

// awaitsExploration requests an exploration by command and waits until its set is current.
func (b *browser) awaitsExploration(s *site) {
	b.t.Helper()
	s.command("explorations", "start", "--reason", "from a browser")
	b.await("the exploration runs", "document.getElementById('exploration-id').textContent.includes('.2.')")
	b.await(
		"rows are scored",
		`document.getElementById('exploration-status').textContent === 'published' || // it was quick
		/^[1-9]/.test(document.getElementById('exploration-rows').textContent)`,
	)
	b.picture("running")
	b.await("it is published", "document.getElementById('exploration-status').textContent === 'published'")
	for id, want := range map[string]string{"exploration-ranges": "the newest rows: ",
		"exploration-reason": "from a browser"} {
		if have := eval[string](b, fmt.Sprintf("document.getElementById(%q).innerText", id)); !strings.Contains(have, want) {
			b.t.Errorf("#%s says %q, want %q", id, have, want)
		}
	}
	b.await("its set is current", "document.getElementById('sets').innerText.includes('#2 ')")
	b.clean("an exploration")
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

// ofKinds matches the number of features of a kind.
var ofKinds = regexp.MustCompile(`rows: \d+ (cosine|ramp|hinge|box)`)

// Learned features have a curve of losses, and the columns by importance.
func TestPageOfLearnedFeaturesInBrowser(t *testing.T) {
	b := openBrowser(t)
	s := newSite(t, "exploration.criterion=adaptive")
	b.device(1440, 900, false, "light")
	b.run(chromedp.Navigate(s.url + "/"))
	b.await("live", "document.getElementById('live').textContent === 'live'")
	if !eval[bool](b, "document.getElementById('learning').hidden") {
		t.Error("learning is shown although nothing is learned")
	}
	s.produce(8000)
	b.await("a winner", "document.getElementById('learning-best').textContent.endsWith(' won')")
	b.await("columns", "document.querySelectorAll('#importance li').length > 1")
	b.await("the curve",
		"document.querySelectorAll('#learning-chart canvas').length === 1 && "+
			"document.getElementById('learning-chart').offsetHeight > 100")
	eval[bool](b, `(() => {
		const over = document.querySelector('#learning-chart .u-over'), box = over.getBoundingClientRect();
		const at = { clientX: box.left + box.width / 2, clientY: box.top + 20, bubbles: true };
		return over.dispatchEvent(new MouseEvent('mousemove', at));
	})()`)
	b.await("the values under the cursor",
		"/loss [0-9.]+/.test(document.querySelector('#learning-chart .tip').textContent)")
	if note := eval[string](b, "document.getElementById('learning-note').textContent"); !strings.Contains(note,
		"judged on") || !strings.Contains(note, "not an estimate") {
		t.Errorf("the note says %q", note)
	}
	if note := eval[string](b, "document.getElementById('spectrum-note').textContent"); strings.Contains(note, "noise") ||
		!ofKinds.MatchString(note) {
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

// The columns of the current set are in a table that can be opened.
func TestPageOfColumnsInBrowser(t *testing.T) {
	b := openBrowser(t)
	s := newSite(t, "events.label="+messy.Segment, "events.exclude="+messy.Churned, "exploration.criterion=correlation",
		"topics.partitions=16")
	b.device(1280, 900, false, "light")
	b.run(chromedp.Navigate(s.url + "/"))
	b.await("live", "document.getElementById('live').textContent === 'live'")
	if !eval[bool](b, "document.getElementById('columns').hidden") {
		t.Error("columns are shown before there is a set")
	}
	s.produceMessy(4000)
	b.await("the sum",
		"document.getElementById('columns-sum').textContent === '11 of 13 columns are features; left out: f0, Customer ID.'")
	b.run(chromedp.Click(chromedp.ID("columns-summary")))
	b.await("the table",
		"document.querySelectorAll('#columns tbody tr').length === 15 && document.querySelector('#columns "+
			"table').offsetHeight > 100")
	if text := eval[string](b, "document.querySelector('#columns tbody').innerText"); !strings.Contains(text,
		"looks like an identifier") || !strings.Contains(text, "dates in text") {
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
	b.await("the strip",
		fmt.Sprintf("document.querySelectorAll('.heat')[0].children.length === %d && "+
			"document.querySelectorAll('#partitions tbody tr').length === 12", partitions))
	if stops := eval[int](b,
		"document.querySelectorAll('.heat')[0].querySelectorAll('[tabindex=\"0\"]').length"); stops != 1 {
		b.t.Errorf("%d stops of the tab key", stops)
	}
	press := func(key string) {
		eval[bool](b,
			fmt.Sprintf("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '%s', bubbles: true }))", key))
	}
	eval[bool](b, "document.querySelector('.heat button').focus() === undefined")
	press("End")
	press("ArrowLeft")
	b.await("the partition before the last",
		fmt.Sprintf("document.querySelector('.heats .about').textContent.startsWith('Partition %d: ')", partitions-2))
	eval[bool](b, "document.activeElement.click() === undefined")
	b.await("it is in the table",
		fmt.Sprintf("document.querySelector('#partitions tbody tr').cells[0].textContent === '%d'", partitions-2))
}

func TestPageWithoutBroker(t *testing.T) {
	b := openBrowser(t)
	s := newSite(t)
	s.produce(8000)
	b.device(1440, 900, false, "light")
	b.run(chromedp.Navigate(s.url + "/status/"))
	b.await("a set", "document.getElementById('sets').innerText.includes('current')")
	s.broker.Stop()
	b.await("the banner", "document.getElementById('banners').innerText.includes('The broker does not answer')")
	b.picture("broker-away")
	b.device(375, 812, true, "dark")
	b.fits("phone with a banner")
	b.picture("broker-away-phone")
	b.clean("without a broker")
}
