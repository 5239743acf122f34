package sets

import "github.com/eerf-stream/eerf/arrowio/encoder"

// The publisher of the regression sets with ten splits: the collection of T. Evans, with sets of
// the UCI archive and of Delve in the form that papers on Gaussian processes use.
const (
	evans      = "https://github.com/treforevans/uci_datasets"
	evansFiles = "https://raw.githubusercontent.com/treforevans/uci_datasets/master/uci_datasets/"
)

// publishedSplits is the number of splits of each.
const publishedSplits = 10

// regressionSets are sets for the comparison beyond the paper.
func regressionSets() []*Set {
	uciCC := ccBy + " (UCI archive)"
	return []*Set{
		regression("airfoil", "Airfoil self-noise: sound pressure of a wing section in a wind tunnel", 5, 1353, 150, uciCC,
			"2862a364c396273028e7d421ae3cbf619ed0fe23d9a9cb2716e7a84ef81b4067",
			"bbb5aee5188dfb54cab52936878ae64642fe46ea3ac515bac48ea1c2cf47a10c"),
		regression("concrete", "Concrete: compressive strength from the mixture and its age", 8, 927, 103, uciCC,
			"f7210967a49a2adbf6d19ac3dd853f820941ff37351562cd1a48e8521af3d80b",
			"49e0385a48bd0881197c0f057a126ec7d48bc1884be7cf3519a264327406691b"),
		regression("parkinsons", "Parkinsons telemonitoring: severity of symptoms from measures of the voice", 20, 5288, 587,
			uciCC,
			"514813c9ae91ea070cb6eafcac612db990ea26cf631eb29e9457fbdd4a75f4bd",
			"2f2a5417098b318eca2d15337c02841daf2415707ba30905985f1ebed365d0e3"),
		regression("sml", "SML2010: indoor temperature of a house from its sensors", 26, 3724, 413, uciCC,
			"99779d3b2243216cf4f9c57d879b778fd2fad3c79b942f6841a266bc5d2692e3",
			"26b53c0efb8a0e420ed9a5cbb8006ead033b492bb780a1ff58332eb78d9bb852"),
		regression("skillcraft", "SkillCraft1: rank of players of a strategy game from how they play", 19, 3005, 333, uciCC,
			"a32ce28e909aa6977b902bf5688b7c9c44a731d90ef800aa8aa72349b71e5786",
			"3b70f24fbe8c6f2c54152521e1e89540f630acd5b09a75f23af9de059a7ac481"),
		regression("pumadyn32nm", "Pumadyn-32nm: acceleration of a simulated robot arm, highly nonlinear, with noise", 32,
			7373, 819,
			"none stated (Delve, University of Toronto)",
			"bd823e5e87867b4152f62bf8a64b896a272645e319e8373354e15501a5654641",
			"ab5aaccfb1fa90012c3924803de6e8a084526dc14baab4ad4591ac9a781183b5"),
		regression("keggdirected", "KEGG metabolic network, directed: clustering coefficient of a pathway", 20, 43945, 4882,
			uciCC,
			"6609d9b0fb55fecdcf1241087b84129e73fc3dbf083ddd0c13659d4b20add90f",
			"f10510ffcbc55200a787d3e58a5c51b3d3b61fc71c75a2364e5fc4d2cbef4cdf"),
	}
}

// regression returns a set of numeric rows that end with the label, with the masks of its splits.
func regression(name, title string, dim, train, test int, license, rows, masks string) *Set {
	path := "uci_regression/" + name
	return &Set{
		Name: name, Title: title, Home: evans, License: license,
		Files: []File{
			{Path: path + ".csv", URLs: []string{evansFiles + name + "/data.csv.gz"}, SHA256: rows},
			{Path: path + ".test_mask.csv", URLs: []string{evansFiles + name + "/test_mask.csv.gz"}, SHA256: masks},
		},
		Notice: "seed s uses the published split s of ten (11 the first one again); M, M0, N0 and encoding are this " +
			"project's choice",
		Dim: dim, TrainRows: train, TestRows: test,
		Defaults: Defaults{
			Features: []int{500}, Candidates: 10000, Sample: 1, SampleRows: 20000, Splits: publishedSplits,
			Standardize: encoder.StandardizeNumeric, Clip: 5, Intercept: true,
		},
		open: func(f folder) *rowSource { return openRegression(f, path, dim) },
	}
}
