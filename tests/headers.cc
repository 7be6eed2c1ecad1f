// Holds the precompiled headers of the tests; see CMakeLists.txt.
namespace zerosim {}
