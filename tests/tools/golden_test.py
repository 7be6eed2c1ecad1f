"""Tests that golden.py notices what differs.    golden_test.py ZEROSIM"""

import sys
import unittest

import golden

ZEROSIM = sys.argv.pop(1)

RIGHT = """# Which version.
$ zerosim --version
VERSION

$ zerosim explain zzzzzzzzzzzz
! zerosim: explain: no term "zzzzzzzzzzzz"; `zerosim explain` lists all
[exit 2]
"""


class Golden(unittest.TestCase):

  def test_leaves_a_right_file_as_it_is(self):
    self.assertEqual(golden.rerun(ZEROSIM, RIGHT), RIGHT)

  def test_puts_right_a_wrong_line_a_missing_line_and_a_wrong_status(self):
    for wrong in (RIGHT.replace("no term", "a term"), RIGHT.replace("VERSION\n", ""),
                  RIGHT.replace("[exit 2]", "[exit 1]")):
      self.assertNotEqual(wrong, RIGHT)
      self.assertEqual(golden.rerun(ZEROSIM, wrong), RIGHT)

  def test_tells_comments_from_outputs_that_look_like_one(self):
    text = "$ cat TMP/none\n# stale output\n\n# A comment.\n$ zerosim --version\nVERSION\n"
    self.assertNotIn("stale", golden.rerun(ZEROSIM, text))
    self.assertIn("\n\n# A comment.\n$ zerosim --version\n", golden.rerun(ZEROSIM, text))

  def test_runs_nothing_else(self):
    with self.assertRaisesRegex(ValueError, "not rm"):
      golden.rerun(ZEROSIM, "$ rm -r TMP\n")


if __name__ == "__main__":
  unittest.main()
